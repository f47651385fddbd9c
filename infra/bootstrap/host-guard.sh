#!/bin/bash
# Ends a GPU host that costs money for nothing. A timer calls this each minute, so it works whether or not the control
# plane, the agent of ECS or the network do. Ends it when it has had no work for IDLE_MINUTES (0: somebody else sees
# to that), has lived for MAX_HOURS, or has not reached AWS for UNREACHABLE_MINUTES: nobody could stop it then.
# The rest of its environment: REGION, CLUSTER (empty: of Batch), STATE (a folder that is gone after a restart), UPTIME
# (a file that begins with the seconds since then: a clock may be set, and must not end anything).
set -u
mkdir -p "$STATE"
now=$(cut --delimiter=. --fields=1 "$UPTIME")

since() { # seconds since FILE was marked; the first call marks it
  [ -f "$STATE/$1" ] || echo "$now" >"$STATE/$1"
  echo $((now - $(cat "$STATE/$1")))
}
mark() { echo "$now" >"$STATE/$1"; }
containers() { docker ps --quiet --filter label=com.amazonaws.ecs.task-arn 2>/dev/null; }

# A task whose image is still being pulled has no container yet; a host whose agent is gone may have one.
is_busy() {
  [ -n "$(containers)" ] && return 0
  curl --silent --max-time 5 http://localhost:51678/v1/tasks 2>/dev/null |
    grep --only-matching '"KnownStatus":"[A-Z_]*"' | grep --quiet --invert-match STOPPED
}

is_reached() {
  curl --silent --output /dev/null --max-time 10 "https://ecs.$REGION.amazonaws.com/"
}

metadata() {
  local token
  token=$(curl --silent --max-time 5 --request PUT --header 'X-aws-ec2-metadata-token-ttl-seconds: 60' \
    http://169.254.169.254/latest/api/token) || return 1
  curl --silent --max-time 5 --header "X-aws-ec2-metadata-token: $token" "http://169.254.169.254/latest/meta-data/$1"
}

drain() { # DRAINING: nothing new is placed here; ACTIVE: taken back
  [ -n "$CLUSTER" ] || return 0
  local arn
  arn=$(curl --silent --max-time 5 http://localhost:51678/v1/metadata |
    grep --only-matching 'arn:[^"]*:container-instance/[^"]*')
  [ -n "$arn" ] || return 0
  aws ecs update-container-instances-state --region "$REGION" --cluster "$CLUSTER" \
    --container-instances "$arn" --status "$1" >/dev/null
}

# The group forgets the host first, or it would start another in its place.
leave_group() {
  [ -n "$CLUSTER" ] || return 0
  local id
  id=$(metadata instance-id) || return 1
  aws autoscaling terminate-instance-in-auto-scaling-group --region "$REGION" --instance-id "$id" \
    --should-decrement-desired-capacity >/dev/null ||
    aws autoscaling terminate-instance-in-auto-scaling-group --region "$REGION" --instance-id "$id" \
      --no-should-decrement-desired-capacity >/dev/null
}

end() {
  echo "spotter: this host ends itself: $1"
  drain DRAINING
  if [ "$1" = idle ] && is_busy; then
    # Something came in the last moment.
    drain ACTIVE
    mark busy
    return
  fi
  # SIGTERM: whoever trains saves a checkpoint.
  local running
  running=$(containers)
  # shellcheck disable=SC2086
  [ -z "$running" ] || docker stop --time 120 $running >/dev/null
  leave_group
  # Also where nothing of the above went well: a host that is shut down is terminated.
  shutdown --poweroff now
}

since busy >/dev/null
since reached >/dev/null
if is_busy; then mark busy; fi
if is_reached; then mark reached; fi

if [ "$now" -ge $((MAX_HOURS * 3600)) ]; then
  end "it is $MAX_HOURS hours old"
elif [ "$(since reached)" -ge $((UNREACHABLE_MINUTES * 60)) ]; then
  end "AWS has not answered for $UNREACHABLE_MINUTES minutes"
elif [ "$IDLE_MINUTES" -gt 0 ] && [ "$(since busy)" -ge $((IDLE_MINUTES * 60)) ]; then
  end idle
fi
