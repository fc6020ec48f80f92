"""Export fitted forests and trees to ONNX, treelite, SHAP, text and Graphviz.

``docs/exports.md`` lists which predictions are identical to those of puforest, and by how much the
others can differ.
"""

from puforest.export._dot import dot_lines, to_dot
from puforest.export._matrix import to_matrix
from puforest.export._onnx import to_onnx
from puforest.export._shap import shap_explanation, to_shap
from puforest.export._text import text_lines, to_text
from puforest.export._treelite import to_treelite

__all__ = [
    "dot_lines",
    "shap_explanation",
    "text_lines",
    "to_dot",
    "to_matrix",
    "to_onnx",
    "to_shap",
    "to_text",
    "to_treelite",
]
