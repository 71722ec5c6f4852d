#!/bin/sh
# PostgreSQL's archive_command on each machine of the cluster: tapline-pgbackrest-push %p
# A primary may die after it has completed a WAL file and before it has archived the file. Its
# standby has the file, but counts it as archived, because archiving is the primary's task. The
# archive would then have a gap that no restore could pass. To close it, a new primary archives its
# recent files of the previous timeline before the history file of its own timeline.
set -eu
# An hour at one file a minute (archive_timeout). For older gaps, the alert ArchiveIsOld fires
# anyway.
FILES=64
# pgBackRest's exit code if the archive contains the file with different content.
IS_ANOTHER=45

push() { pgbackrest --stanza=tapline archive-push "$1"; }

# pgBackRest compares a file that the archive contains already, and does not send it again.
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
