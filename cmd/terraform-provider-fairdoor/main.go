// Command terraform-provider-fairdoor has Terraform and OpenTofu keep what operators set of running
// gates: rooms' live settings, events, passes, and waitlists. It asks the admin API of a gate, as
// the commands of fairdoor do. It is a module of its own, so that the program needs nothing of it.
//
//	provider.go  which gate, and the kinds of resources
//	managed.go   what all kinds share: plans, states, and what Terraform asks
//	values.go    values of Terraform's as JSON, and back
//	room.go event.go pass.go waitlist.go invites.go   a kind each
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
)

// address is by what configurations name the provider.
const address = "registry.terraform.io/fairdoor-gate/fairdoor"

func main() {
	debug := flag.Bool("debug", false, "wait for a debugger, and say how Terraform reaches this process")
	flag.Parse()
	if err := providerserver.Serve(context.Background(), New, providerserver.ServeOpts{Address: address, Debug: *debug}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
