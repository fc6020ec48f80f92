"""Forests on a Dask cluster."""
