"""Pictures with Matplotlib, which the extra `plot` installs."""
