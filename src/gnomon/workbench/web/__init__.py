"""The workbench in a browser: pages made from tables, descriptions of jobs and run folders."""
