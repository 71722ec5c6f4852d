#!/bin/sh
# Replaces the entrypoint of the PostgreSQL image: creates the database if the folder is empty, then
# starts the server.
set -eu
chown postgres:postgres "$PGDATA" /var/run/postgresql
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  word=$(mktemp)
  printf '%s\n' "$POSTGRES_PASSWORD" > "$word"
  chown postgres "$word"
  setpriv --reuid=postgres --regid=postgres --init-groups \
    initdb -D "$PGDATA" -U "$POSTGRES_USER" --pwfile="$word" $POSTGRES_INITDB_ARGS
  rm "$word"
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  echo "listen_addresses = '*'" >> "$PGDATA/postgresql.conf"
  setpriv --reuid=postgres --regid=postgres --init-groups sh -c "
    pg_ctl -D \"\$PGDATA\" -o '-c listen_addresses=' -w start
    createdb -U \"\$POSTGRES_USER\" \"\$POSTGRES_DB\"
    pg_ctl -D \"\$PGDATA\" -m fast -w stop"
fi
exec setpriv --reuid=postgres --regid=postgres --init-groups "$@"
