#!/bin/bash
# Stands in for systemd on a machine made of namespaces: starts units as it would, with their user, environment, folders and
# command, again whenever they end.
set -euo pipefail

pid_file() { echo "/run/units/$1.pid"; }

# run_unit NAME: in the background, until it is stopped.
run_unit() {
  local unit=/etc/systemd/system/$1.service
  field() { sed -n "s/^$1=//p" "$unit"; }
  local user folder command
  user=$(field User)
  folder=/var/lib/$(field StateDirectory)
  command=$(field ExecStart)
  install --directory --owner="$user" --group="$user" --mode="$(field StateDirectoryMode)" "$folder"
  while true; do
    (
      cd "$folder"
      set -a
      for file in $(field EnvironmentFile); do . "$file"; done
      export $(field Environment | tr '\n' ' ')
      exec setpriv --reuid="$user" --regid="$user" --clear-groups --no-new-privs $command
    ) >>"/var/log/$1.log" 2>&1 &
    echo $! >"$(pid_file "$1")"
    wait $! || true
    sleep 1
  done
}

start() {
  mkdir -p /run/units
  [ -e "/etc/systemd/system/$1.service" ] || { echo "Unit $1.service not found." >&2; exit 5; }
  setsid "$0" run "$1" </dev/null >/dev/null 2>&1 &
}

# Ends the process and waits for it; the unit starts it anew.
restart() {
  local pid
  pid=$(cat "$(pid_file "$1")")
  kill -TERM "$pid"
  while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
  while [ "$(cat "$(pid_file "$1")")" = "$pid" ]; do sleep 0.1; done
}

verb=$1
shift
case "$verb" in
  run) run_unit "$1" ;;
  daemon-reload | disable) ;;
  enable) shift; for unit in "$@"; do start "$unit"; done ;;
  restart) for unit in "$@"; do restart "$unit"; done ;;
  *) echo "systemctl $verb is not known here" >&2; exit 1 ;;
esac
