package queue

// OfSite is how many times what a network may have the IPv6 /48 may have that it is in: one
// subscriber or hoster often has all of that. It holds for every bound per network.
const OfSite = 4
