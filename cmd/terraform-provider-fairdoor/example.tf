# The provider comes as source. In its directory of a clone: go install . And in ~/.terraformrc, or ~/.tofurc:
#
#   provider_installation {
#     dev_overrides { "fairdoor-gate/fairdoor" = "/home/ada/go/bin" }
#     direct {}
#   }
terraform {
  required_providers {
    fairdoor = { source = "fairdoor-gate/fairdoor" }
  }
}

# Without these: FAIRDOOR_ADMIN, and FAIRDOOR_ADMIN_TOKEN or FAIRDOOR_ADMIN_TOKEN_FILE.
provider "fairdoor" {
  address = "https://gate.internal.example"
  token   = var.admin_token
}

variable "admin_token" {
  type      = string
  sensitive = true
}

# Settings over those of the file, on every gate. What is not set is as in the file, and so is all once the resource is gone.
resource "fairdoor_room" "shop" {
  name                 = "shop"
  total_active_users   = 800
  new_users_per_minute = 400
  session_duration     = "10m"

  lifecycle {
    ignore_changes = [queue_all, message] # they are left to those who are on duty
  }
}

resource "fairdoor_event" "winter_sale" {
  room                   = "shop"
  name                   = "winter-sale"
  timezone               = "Europe/Oslo"
  prequeue_start_time    = "2099-12-01 08:30"
  event_start_time       = "2099-12-01 09:00"
  event_end_time         = "2099-12-01 18:00"
  shuffle_at_event_start = true
  total_active_users     = 1200
  new_users_per_minute   = 600
}

# Any change makes another pass, and revokes this one.
resource "fairdoor_pass" "press" {
  room         = "shop"
  name         = "press"
  kind         = "in" # or ahead, join
  uses         = 5
  good_for     = "72h" # or expires_at = "2026-12-01T18:00:00Z"
  end_sessions = true  # when it is revoked
}

output "press_link" {
  value     = "https://shop.example.com${fairdoor_pass.press.link}"
  sensitive = true
}

# Of a waitlist the API changes whether it is paused, and what is planned.
resource "fairdoor_waitlist" "beta" {
  name   = "beta"
  paused = false
}

resource "fairdoor_waitlist_invites" "weekly" {
  waitlist = "beta"
  people   = 100
  at       = "2099-12-07T09:00:00Z"
  every    = "168h"
}
