"""Model files in a portable, versioned format that is loaded without running code.

`docs/model-files.md` specifies the format field by field.
"""

from puforest.io._model_file import load_model, save_model
from puforest.io._skops import trusted_types

__all__ = ["load_model", "save_model", "trusted_types"]
