package main

import "strings"

// header is one line of a request.
type header struct{ name, value string }

// navigation is what a browser sends when somebody opens a page.
var navigation = []header{
	{"User-Agent", browser},
	{"Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"},
	{"Accept-Language", "en-GB,en;q=0.9,de;q=0.8"},
	{"Accept-Encoding", "gzip, deflate, br, zstd"},
	{"Sec-Ch-Ua", `"Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"`},
	{"Sec-Ch-Ua-Mobile", "?0"},
	{"Sec-Ch-Ua-Platform", `"Linux"`},
	{"Sec-Fetch-Dest", "document"},
	{"Sec-Fetch-Mode", "navigate"},
	{"Sec-Fetch-Site", "none"},
	{"Sec-Fetch-User", "?1"},
	{"Upgrade-Insecure-Requests", "1"},
	{"Cache-Control", "max-age=0"},
}

// poll is what the waiting page's script sends.
var poll = []header{
	{"User-Agent", browser},
	{"Accept", "application/json"},
	{"Accept-Language", "en-GB,en;q=0.9,de;q=0.8"},
	{"Accept-Encoding", "gzip, deflate, br, zstd"},
	{"Sec-Ch-Ua", `"Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"`},
	{"Sec-Ch-Ua-Mobile", "?0"},
	{"Sec-Ch-Ua-Platform", `"Linux"`},
	{"Sec-Fetch-Dest", "empty"},
	{"Sec-Fetch-Mode", "cors"},
	{"Sec-Fetch-Site", "same-origin"},
	{"Referer", "https://shop.example.com/sale/shoes?size=42"},
	{"Cache-Control", "no-cache"},
}

const browser = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"

// target is what is asked for.
const target = "/sale/shoes?size=42"

// siteCookies are the origin's own, which a browser sends before ours.
const siteCookies = "consent=all; basket=0f3c9a1e77d24b5c; theme=dark"

// head writes a request's head up to the ticket's value in the Cookie header.
func head(addr string, headers []header) string {
	var b strings.Builder
	b.WriteString("GET " + target + " HTTP/1.1\r\nHost: " + addr + "\r\n")
	for _, h := range headers {
		b.WriteString(h.name + ": " + h.value + "\r\n")
	}
	b.WriteString("Cookie: " + siteCookies)
	return b.String()
}
