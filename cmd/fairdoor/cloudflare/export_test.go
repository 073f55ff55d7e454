package cloudflare

// Conditions are what an expression becomes, as the file has it.
func Conditions(expression string) (string, error) {
	matches, err := matchesOf(expression)
	if err != nil {
		return "", err
	}
	return conditions(matches), nil
}
