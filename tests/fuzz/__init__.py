"""Attacks: files that are damaged, runs that are stopped, disks and memory that run out."""
