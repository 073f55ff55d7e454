package config

import (
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/fairdoor-gate/fairdoor/proxy/outbound"
)

func checkWebhookHost(s string) string {
	if _, err := outbound.ParseHosts([]string{s}); err != nil {
		return "is no host, *.host, http://host, host:port, address or network"
	}
	return ""
}

func checkWebhook(s string) string {
	if u, err := url.Parse(s); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.Fragment != "" {
		return "is no https:// address"
	}
	return ""
}

// checkWebhooks checks each webhook, and all of them against the hosts that they may be at.
func (v *value) checkWebhooks(c *Config) {
	hosts, err := outbound.ParseHosts(c.WebhookHosts)
	names, addresses := map[string]Position{}, map[string]Position{}
	for i, item := range v.itemsOf("webhooks") {
		if v.stopped {
			return
		}
		h := &c.Webhooks[i]
		item.checkWebhook(h)
		if first, taken := claim(names, h.Name, item.where("name")); h.Name != "" && taken {
			item.fault(item.where("name"), "%s is the name of another webhook already, %s", show(h.Name), onLine(first))
		}
		if first, taken := claim(addresses, h.URL, item.where("url")); h.URL != "" && taken {
			item.fault(item.where("url"), "another webhook has this address already, %s", onLine(first))
		}
		if u, errURL := url.Parse(h.URL); err == nil && errURL == nil && item.isGiven("url") && item.valid("url") && v.valid("webhook_hosts") {
			if err := hosts.Check(u); err != nil {
				item.fault(item.where("url"), "webhook_hosts: %v", err)
			}
		}
		item.refuse(item.valid("rooms") && v.valid("rooms") && !knowsRooms(c, h.Rooms), "rooms", "there is no such room")
	}
}

// knowsRooms says whether all names are those of rooms, or of rooms of families.
func knowsRooms(c *Config, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		family, _, _ := strings.Cut(name, ".")
		return !slices.ContainsFunc(c.Rooms, func(r Room) bool { return r.Name == family })
	})
}

// checkWebhook checks a webhook by itself.
func (v *value) checkWebhook(h *Webhook) {
	v.required("url", "the address that events are posted to")
	v.readFiles(webhookKey, reflect.ValueOf(h).Elem(), "")
	v.refuse(!v.isGiven("secret", "secret_file"), "secret", "is required: whsec_ and 32 random bytes in base64, or secret_file")
}
