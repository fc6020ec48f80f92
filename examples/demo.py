"""The whole story on the mushrooms that come with puforest: what ``puforest demo`` does.

1000 edible mushrooms are known; all the others, edible or not, are unlabeled. Estimate how many
are edible, learn which are, judge that without a known poisonous one, and compare with the truth,
which the forest never sees. The code is `puforest.cli.demo`.
"""

import sys

from puforest.cli import main

if __name__ == "__main__":
    sys.argv[1:1] = ["demo"]
    main()
