package templates

import "strconv"

// unavailable is the text of a formatted value that is not known.
const unavailable = "unavailable"

// formatMinutes writes a number of minutes in English: "10 minutes",
// "1 minute", and "less than a minute" for 0 and below.
func formatMinutes(minutes int) string {
	switch {
	case minutes <= 0:
		return "less than a minute"
	case minutes == 1:
		return "1 minute"
	default:
		return strconv.Itoa(minutes) + " minutes"
	}
}

// formatUntil writes the minutes that are left until a moment, if there is one.
func formatUntil(known bool, minutes int) string {
	if !known {
		return unavailable
	}
	return formatMinutes(minutes)
}

// FormatWaitTime writes the estimated wait of d in English, as the variable waitTimeFormatted
// has it: "10 minutes", for the random method "5 minutes to 15 minutes" by its quartiles, or
// "unavailable". A wait under a minute, which rounds up to one, is "less than a minute".
func FormatWaitTime(d Data) string {
	d = d.resolved()
	switch {
	case !d.WaitTimeKnown:
		return unavailable
	case d.WaitTime75Percentile > d.WaitTime25Percentile:
		return formatMinutes(d.WaitTime25Percentile) + " to " + formatMinutes(d.WaitTime75Percentile)
	case d.isShort():
		return formatMinutes(0)
	default:
		return formatMinutes(d.WaitTime)
	}
}
