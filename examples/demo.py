"""PU learning from end to end on the mushroom data, as in ``puforest demo``.

1000 edible mushrooms are labeled; all others, edible or poisonous, are unlabeled. The demo
estimates the fraction of edible mushrooms, trains a forest, evaluates it without any known
poisonous one, and compares the results with the true classes, which the forest never sees. The code
is in `puforest.cli.demo`.
"""

import sys

from puforest.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["demo"]
    main()
