#!/bin/sh
# PostgreSQL's archive_command on each machine of the cluster: tapline-pgbackrest-push %p
#
# A primary that dies may have finished a file of its log and not archived it. The standby that
# follows has that file and counts it as archived, because its primary would do that. So the archive
# would have a hole, and no restore would get past it. A new primary archives the history of its
# timeline first: before that goes what it has of the timeline before.
set -eu
# An hour, at one file a minute (archive_timeout). Older ones make ArchiveIsOld speak anyway.
FILES=64
# pgBackRest: the archive has such a file with another content.
IS_ANOTHER=45

push() { pgbackrest --stanza=tapline archive-push "$1"; }

# What is in the archive already is compared, and not sent.
push_again() {
  push "$1" && return
  code=$?
  [ "$code" = "$IS_ANOTHER" ] || exit "$code"
  echo "$1 is in the archive with another content" >&2
}

case $1 in
  *.history)
    before=$(ls pg_wal/archive_status | sed -n 's/^\([0-9A-F]\{24\}\)\.done$/\1/p' | tail -n "$FILES")
    for name in $before; do
      [ ! -f "pg_wal/$name" ] || push_again "pg_wal/$name"
    done
    ;;
esac
push "$1"
