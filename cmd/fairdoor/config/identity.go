package config

import "github.com/fairdoor-gate/fairdoor/templates"

// Identity is what the pages of the room show of the site, but for its pictures.
func (r *Room) Identity() templates.Identity {
	return templates.Identity{SiteName: r.SiteName, HeroAlt: r.HeroAlt, Accent: r.Accent, Background: r.Background, Card: r.Card, Font: r.Font, HelpURL: r.HelpURL}
}
