"""The job detect: objects found in pictures, or a detector learned from boxes."""
