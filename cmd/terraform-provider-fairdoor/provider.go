package main

import (
	"cmp"
	"context"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/fairdoor-gate/fairdoor/proxy/admin/client"
)

// New makes the provider.
func New() provider.Provider { return gate{} }

// gate is the provider: the gate whose admin API it asks.
type gate struct{}

// Metadata implements [provider.Provider].
func (gate) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "fairdoor"
}

// Schema implements [provider.Provider].
func (gate) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		Description: "What operators set of a running gate, by its admin API.",
		Attributes: map[string]schema.Attribute{
			"address": schema.StringAttribute{Optional: true,
				Description: "Address of the gate's admin API, or its URL. Default: the variable FAIRDOOR_ADMIN, or else " + client.DefaultAddress + "."},
			"token": schema.StringAttribute{Optional: true, Sensitive: true,
				Description: "Token of the admin API. Default: the variable FAIRDOOR_ADMIN_TOKEN, or the file that FAIRDOOR_ADMIN_TOKEN_FILE names."},
		},
	}
}

// Configure implements [provider.Provider]. An address or a token that is not known yet, as of a
// gate that is still to be made, leaves the provider without a gate: Terraform asks again.
func (gate) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var given struct {
		Address types.String `tfsdk:"address"`
		Token   types.String `tfsdk:"token"`
	}
	resp.Diagnostics.Append(req.Config.Get(ctx, &given)...)
	if resp.Diagnostics.HasError() || given.Address.IsUnknown() || given.Token.IsUnknown() {
		return
	}
	url, err := client.URL(cmp.Or(given.Address.ValueString(), os.Getenv("FAIRDOOR_ADMIN"), client.DefaultAddress))
	if err != nil {
		resp.Diagnostics.AddAttributeError(path.Root("address"), "The gate's address cannot be used", err.Error())
	}
	token := cmp.Or(given.Token.ValueString(), os.Getenv("FAIRDOOR_ADMIN_TOKEN"))
	if file := os.Getenv("FAIRDOOR_ADMIN_TOKEN_FILE"); token == "" && file != "" {
		if token, err = client.ReadToken(file); err != nil {
			resp.Diagnostics.AddAttributeError(path.Root("token"), "FAIRDOOR_ADMIN_TOKEN_FILE cannot be used", err.Error())
		}
	}
	resp.ResourceData = &client.API{URL: url, Token: token, As: cmp.Or(os.Getenv("FAIRDOOR_AS"), "terraform")}
}

// Resources implements [provider.Provider].
func (gate) Resources(context.Context) []func() resource.Resource {
	var all []func() resource.Resource
	for _, k := range []*kind{room, plannedEvent, pass, waitlist, invites} {
		all = append(all, func() resource.Resource { return &managed{kind: k} })
	}
	return all
}

// DataSources implements [provider.Provider].
func (gate) DataSources(context.Context) []func() datasource.DataSource { return nil }
