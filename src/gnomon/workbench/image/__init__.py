"""The job image: a picture cleaned or cut into segments."""
