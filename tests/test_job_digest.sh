#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The job tree quick-1 is the one that every result so far was measured with.
# When this fails, undo the change to the tree: a new tree gets a new name.
. tests/lib.sh
frozen=73c864b4f20589d5d8e3d13c17be2f2f35bba19d089c441edbbe21a6050a9331

# As sha256_tree() does it: /name NUL size NUL content, by name: so this is also
# the digest that results carry
digest=$(cd loads/jobs/quick-1 && find . -type f | cut -c2- | LC_ALL=C sort |
	while read -r f; do
		printf '%s\0%s\0' "$f" "$(stat -c %s ".$f")"
		cat ".$f"
	done | sha256sum)
digest=${digest%% *}
[ "$digest" = "$frozen" ] || fail "loads/jobs/quick-1 is $digest, not $frozen: it is frozen"
