package simulate

// Report is an experiment with its results, as it is written as JSON.
type Report struct {
	Setup   Setup     `json:"setup"`
	Results []*Result `json:"results"`
}

// Setup is a Config in JSON, with its defaults filled in. The method is in each
// result.
type Setup struct {
	Visitors          int      `json:"visitors"`
	Arrivals          Arrivals `json:"arrivals"`
	Over              float64  `json:"over_seconds"`
	Spoofed           bool     `json:"spoofed"`
	TotalActiveUsers  int      `json:"total_active_users"`
	NewUsersPerMinute int      `json:"new_users_per_minute"`
	SessionDuration   float64  `json:"session_duration_seconds"`
	RefreshInterval   float64  `json:"refresh_interval_seconds"`
	RefreshJitter     float64  `json:"refresh_jitter"`
	Bucket            float64  `json:"bucket_seconds"`
	Pacing            string   `json:"pacing"`
	QueueTicketTTL    float64  `json:"queue_ticket_ttl_seconds"`
	Browse            float64  `json:"browse_seconds"`
	GiveUp            float64  `json:"give_up"`
	Patience          float64  `json:"patience_seconds"`
	Goodbye           float64  `json:"goodbye"`
	Bots              float64  `json:"bots"`
	Cookieless        float64  `json:"cookieless_per_second"`
	ConfirmWithin     float64  `json:"confirm_within_seconds"`
	Spammers          float64  `json:"spammers"`
	SpamRate          int      `json:"spam_rate"`
	Latency           float64  `json:"latency_seconds"`
	Nodes             int      `json:"nodes"`
	Sticky            bool     `json:"sticky"`
	StoreLatency      float64  `json:"store_latency_seconds"`
	NodeDeaths        int      `json:"node_deaths"`
	StoreFailures     int      `json:"store_failures"`
	Changes           []string `json:"changes,omitempty"`
	OriginCapacity    int      `json:"origin_capacity,omitempty"`
	OriginLatency     float64  `json:"origin_latency_seconds,omitempty"`
	ControlLatency    float64  `json:"admission_control_latency_seconds,omitempty"`
	Seed              uint64   `json:"seed"`
}

// NewReport puts an experiment and its results together.
func NewReport(c Config, results []*Result) *Report {
	s := c.Room.WithDefaults()
	var changes []string
	for _, change := range c.inOrder() {
		changes = append(changes, change.String())
	}
	r := &Report{Results: results, Setup: Setup{
		Visitors: c.Visitors, Arrivals: c.Arrivals, Over: c.Over.Seconds(), Spoofed: c.Spoofed,
		TotalActiveUsers: s.TotalActiveUsers, NewUsersPerMinute: s.NewUsersPerMinute,
		SessionDuration: s.SessionDuration.Seconds(), RefreshInterval: s.RefreshInterval.Seconds(),
		RefreshJitter: s.RefreshJitter, Bucket: s.LongestBucket().Seconds(), Pacing: s.Pacing.String(),
		QueueTicketTTL: s.QueueTicketTTL.Seconds(), Browse: c.Browse.Seconds(),
		GiveUp: c.GiveUp, Patience: c.Patience.Seconds(), Goodbye: c.Goodbye,
		Cookieless: c.Strays, ConfirmWithin: s.ConfirmWithin.Seconds(), Bots: c.Bots, Spammers: c.Spammers, SpamRate: c.SpamRate, Latency: c.Latency.Seconds(),
		Nodes: c.Nodes, Sticky: c.Sticky, StoreLatency: c.StoreLatency.Seconds(),
		NodeDeaths: c.NodeDeaths, StoreFailures: c.StoreFailures, Changes: changes, Seed: c.Seed,
		OriginCapacity: c.OriginCapacity, ControlLatency: s.AdmissionControlLatency.Seconds(),
	}}
	if c.OriginCapacity > 0 {
		r.Setup.OriginLatency = c.OriginLatency.Seconds()
	}
	return r
}
