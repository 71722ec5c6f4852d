#!/bin/sh
# Backs up the database of compose.yaml, with only the programs in PostgreSQL's image:
#   keep <path> <name>   archives one WAL file (archive_command)
#   daily                copies the database now and once a day; deletes copies older than BACKUP_DAYS
#   once                 copies the database once
#   restore <moment>     restores the database to that moment (docs/backup.md)
set -eu
umask 077
backup=${BACKUP_PLACE:-/backup}
data=${PGDATA:-/var/lib/postgresql/data}

keep() {
  mkdir -p "$backup/log"
  # Never replaces an archived file with a different one. After a crash, the same file may come
  # twice.
  if [ -e "$backup/log/$2" ]; then cmp -s "$1" "$backup/log/$2"; return; fi
  cp "$1" "$backup/log/$2.part"
  sync "$backup/log/$2.part"
  mv "$backup/log/$2.part" "$backup/log/$2"
}

once() {
  mkdir -p "$backup/copies"
  copy="$backup/copies/$(date -u +%Y%m%dT%H%M%SZ)"
  rm -rf "$backup"/copies/*.part
  pg_basebackup -D "$copy.part" -c fast -X none
  mv "$copy.part" "$copy"
  echo "backup: $copy"
}

# Deletes copies that are too old, except the newest one, then the WAL that no copy needs.
thin() {
  ls "$backup/copies" | sort | head -n -1 | while read -r old; do
    if [ -n "$(find "$backup/copies/$old" -maxdepth 0 -mtime +"${BACKUP_DAYS:-7}")" ]; then
      rm -rf "${backup:?}/copies/$old"
    fi
  done
  oldest=$(ls "$backup/copies" | sort | head -n 1)
  first=$(sed -n 's/^START WAL LOCATION: .*(file \([0-9A-F]*\))$/\1/p' "$backup/copies/$oldest/backup_label")
  if [ -n "$first" ]; then pg_archivecleanup "$backup/log" "$first"; fi
}

daily() {
  while true; do
    # If a backup fails, the log says so, and the next attempt follows after ten minutes.
    if once && thin; then sleep 86400; else sleep 600; fi
  done
}

restore() {
  moment=${1:?which moment? restore "2026-11-20 20:00:00+00"}
  if [ -e "$data/postmaster.pid" ]; then
    echo "The database runs, or was killed: stop it first (docker compose stop)." >&2
    exit 1
  fi
  wanted=$(date -u -d "$moment" +%Y%m%dT%H%M%SZ)
  copy=$(ls "$backup/copies" | grep -v '\.part$' | sort | awk -v at="$wanted" '$0 <= at' | tail -n 1)
  if [ -z "$copy" ]; then
    echo "No copy is older than $moment. There are:" >&2
    ls "$backup/copies" >&2
    exit 1
  fi
  aside="$data/before-restore-$(date -u +%Y%m%dT%H%M%SZ)"
  mkdir -p "$aside"
  find "$data" -mindepth 1 -maxdepth 1 ! -name 'before-restore-*' -exec mv {} "$aside" \;
  cp -R "$backup/copies/$copy/." "$data"
  cat >> "$data/postgresql.auto.conf" <<CONF
restore_command = 'cp $backup/log/%f %p'
recovery_target_time = '$moment'
recovery_target_action = 'promote'
CONF
  touch "$data/recovery.signal"
  echo "From the copy $copy. Start the database: it goes on to $moment by itself."
  echo "What was there is in $aside: remove it when you no longer need it."
}

step=${1:?keep, daily, once or restore}
shift
"$step" "$@"
