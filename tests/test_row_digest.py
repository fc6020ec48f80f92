"""The digest by which training rows are recognized."""

import numpy as np
import pytest
import scipy.sparse as sp

import puforest
from puforest import PUDecisionTreeClassifier, PUForestClassifier
from puforest._encoded import EncodedTable
from puforest._row_digest import MOST_ROWS, RowDigest, digest_of_table


def test_digest_of_batches_is_that_of_the_table():
    rng = np.random.default_rng(0)
    X, labeled = rng.normal(size=(3 * MOST_ROWS, 2)), rng.random(3 * MOST_ROWS) < 0.3
    whole = digest_of_table(EncodedTable(X), labeled)
    for size in (1, 7, 1000, len(X)):
        digest = RowDigest(*X.shape)
        for start in range(0, len(X), size):
            batch = X[start : start + size]
            digest.add(EncodedTable(batch[digest.take(len(batch))]))
        assert digest.text(labeled) == whole
    sparse = EncodedTable(sp.csr_array(X))
    assert digest_of_table(sparse, labeled) == whole


def test_digest_changes_with_labels_and_rows_but_not_with_bytes_of_equal_numbers():
    X, labeled = np.array([[0.0, np.nan], [1.0, 2.0]]), np.array([1, 0])
    whole = digest_of_table(EncodedTable(X), labeled)
    assert digest_of_table(EncodedTable(X), 1 - labeled) != whole
    assert digest_of_table(EncodedTable(X[::-1]), labeled) != whole
    assert digest_of_table(EncodedTable(X + 1), labeled) != whole
    same = np.array([[-0.0, -np.nan], [1.0, 2.0]], dtype=np.float32)
    assert digest_of_table(EncodedTable(same), labeled) == whole


@pytest.mark.parametrize("kind", [PUDecisionTreeClassifier, PUForestClassifier])
def test_a_model_file_keeps_the_digest(tmp_path, blobs, kind):
    X, labeled, _ = blobs
    model = kind(0.4, scenario="single-training-set", random_state=0).fit(X, labeled)
    assert model._record.digest == digest_of_table(EncodedTable(X), labeled)
    model.save(tmp_path / "model.puf")
    loaded = puforest.load(tmp_path / "model.puf")
    assert loaded._record.digest == model._record.digest
    # Files of earlier versions have none.
    object.__setattr__(model._record, "digest", None)
    model.save(tmp_path / "older.puf")
    assert puforest.load(tmp_path / "older.puf")._record.digest is None


def test_a_wrong_digest_is_refused(tmp_path, blobs):
    X, labeled, _ = blobs
    model = PUDecisionTreeClassifier(0.4, scenario="single-training-set").fit(X, labeled)
    object.__setattr__(model._record, "digest", "no digest")
    with pytest.raises(ValueError, match="not a SHA-256 digest"):
        model.save(tmp_path / "model.puf")
