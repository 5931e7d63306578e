# Sourced by `.ci/run`. Tests that need Postgres use the server that
# HEDDLE_TEST_POSTGRES_URL names, or one that answers on this machine; where there is
# none, a server of our own in a temporary folder, which is stopped at the end.
# Installs Debian's package if nothing else helps.

# The newest installed server, or nothing. The package of the client alone makes such folders too.
postgres_bin() {
  local initdb
  initdb=$(ls "${1:-/usr/lib/postgresql}"/*/bin/initdb 2>/dev/null | sort -V | tail -n 1)
  echo "${initdb%/initdb}"
}

# Keeps Debian's package from starting a server of its own, unless somebody has said what it does.
postgres_without_cluster() {
  local folder=${1:-/etc/postgresql-common}
  [[ -e "$folder/createcluster.conf" ]] ||
    { mkdir -p "$folder" && echo "create_main_cluster = false" >"$folder/createcluster.conf"; }
}

# As the user who may run a server: root may not.
as_postgres() {
  if (($(id -u) == 0)); then
    runuser -u postgres -- "$@"
  else
    "$@"
  fi
}

postgres_answers() {
  [[ -n "$HEDDLE_TEST_POSTGRES_URL" ]] ||
    { command -v psql >/dev/null && psql -qAtc "SELECT 1" postgres://postgres@127.0.0.1:5432/test >/dev/null 2>&1; }
}

postgres_start() {
  export HEDDLE_REQUIRE_POSTGRES=1
  if postgres_answers; then return 0; fi
  if [[ -z "$(postgres_bin)" ]]; then
    apt-get update -qq && postgres_without_cluster && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql >/dev/null || return 1
  fi
  postgres_folder=$(mktemp -d)
  local port
  port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })')
  if (($(id -u) == 0)); then chown postgres "$postgres_folder"; fi
  local bin
  bin=$(postgres_bin)
  (
    # The other user need not be allowed to be where we are.
    cd "$postgres_folder" &&
      as_postgres "$bin/initdb" -D "$postgres_folder/data" -U postgres -A trust -E UTF8 --no-sync >/dev/null &&
      as_postgres "$bin/pg_ctl" -D "$postgres_folder/data" -l "$postgres_folder/log" -w \
        -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=$postgres_folder -c fsync=off" start >/dev/null &&
      as_postgres "$bin/createdb" -h 127.0.0.1 -p "$port" -U postgres test
  ) || return 1
  export HEDDLE_TEST_POSTGRES_URL="postgres://postgres@127.0.0.1:$port/test"
}

postgres_stop() {
  [[ -n "$postgres_folder" ]] || return 0
  (cd "$postgres_folder" && as_postgres "$(postgres_bin)/pg_ctl" -D "$postgres_folder/data" -m immediate stop >/dev/null 2>&1)
  rm -rf "$postgres_folder"
}
