// A provider made with the public Go framework, to check that both sides of our plugin transport speak with Go.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	dsschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	epschema "github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	rschema "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func main() {
	options := providerserver.ServeOpts{Address: "example.com/tests/gopeer"}
	if err := providerserver.Serve(context.Background(), func() provider.Provider { return &peer{} }, options); err != nil {
		log.Fatal(err)
	}
}

type peer struct{}

type peerModel struct {
	Prefix types.String `tfsdk:"prefix"`
}

func (*peer) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "gopeer"
}

func (*peer) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{"prefix": schema.StringAttribute{Optional: true}}}
}

func (*peer) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var model peerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	// What goes to stdout after the handshake reaches the core by the stdio stream.
	fmt.Println("configured for", req.TerraformVersion, "with", model.Prefix.ValueString())
}

func (*peer) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return &thing{} }}
}

func (*peer) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{func() datasource.DataSource { return &echo{} }}
}

func (*peer) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{func() ephemeral.EphemeralResource { return &token{} }}
}

func (*peer) Functions(context.Context) []func() function.Function {
	return []func() function.Function{func() function.Function { return &shout{} }}
}

type thing struct{}

type part struct {
	Label types.String `tfsdk:"label"`
}

type rule struct {
	Port types.Int64 `tfsdk:"port"`
}

type thingModel struct {
	ID     types.String      `tfsdk:"id"`
	Name   types.String      `tfsdk:"name"`
	Size   types.Number      `tfsdk:"size"`
	Tags   map[string]string `tfsdk:"tags"`
	Secret types.String      `tfsdk:"secret"`
	Parts  []part            `tfsdk:"parts"`
	Rules  []rule            `tfsdk:"rule"`
}

func (*thing) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_thing"
}

func (*thing) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	keep := []planmodifier.String{stringplanmodifier.UseStateForUnknown()}
	replace := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	resp.Schema = rschema.Schema{
		Version: 2,
		Attributes: map[string]rschema.Attribute{
			"id":     rschema.StringAttribute{Computed: true, PlanModifiers: keep},
			"name":   rschema.StringAttribute{Required: true, PlanModifiers: replace},
			"size":   rschema.NumberAttribute{Optional: true},
			"tags":   rschema.MapAttribute{Optional: true, ElementType: types.StringType},
			"secret": rschema.StringAttribute{Optional: true, WriteOnly: true},
			"parts": rschema.ListNestedAttribute{Optional: true, NestedObject: rschema.NestedAttributeObject{
				Attributes: map[string]rschema.Attribute{"label": rschema.StringAttribute{Required: true}},
			}},
		},
		Blocks: map[string]rschema.Block{
			"rule": rschema.SetNestedBlock{NestedObject: rschema.NestedBlockObject{
				Attributes: map[string]rschema.Attribute{"port": rschema.Int64Attribute{Required: true}},
			}},
		},
	}
}

func (*thing) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var name types.String
	resp.Diagnostics.Append(req.Plan.GetAttribute(ctx, path.Root("name"), &name)...)
	switch name.ValueString() {
	case "panic":
		panic("this is what the test asks for")
	case "exit":
		fmt.Fprintln(os.Stderr, "panic: this is what the test asks for")
		os.Exit(2)
	case "bad":
		resp.Diagnostics.AddAttributeError(path.Root("parts").AtListIndex(0).AtName("label"), "Bad label", "It is bad.")
	}
}

func (*thing) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var model, config thingModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	model.ID = types.StringValue("id-" + model.Name.ValueString())
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, "made", []byte(`{"with":"go"}`))...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
	resp.Diagnostics.AddWarning("Created", "with "+config.Secret.ValueString())
}

func (*thing) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	made, diagnostics := req.Private.GetKey(ctx, "made")
	resp.Diagnostics.Append(diagnostics...)
	resp.Diagnostics.AddWarning("Read", "private "+string(made))
}

func (*thing) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var model thingModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &model)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

func (*thing) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

func (*thing) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	resource.ImportStatePassthroughID(ctx, path.Root("name"), req, resp)
}

type echo struct{}

func (*echo) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_echo"
}

func (*echo) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = dsschema.Schema{Attributes: map[string]dsschema.Attribute{
		"input":  dsschema.DynamicAttribute{Required: true},
		"output": dsschema.DynamicAttribute{Computed: true},
	}}
}

func (*echo) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var input types.Dynamic
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("input"), &input)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("input"), input)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("output"), input)...)
}

type token struct{}

func (*token) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_token"
}

func (*token) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = epschema.Schema{Attributes: map[string]epschema.Attribute{
		"length": epschema.Int64Attribute{Required: true},
		"value":  epschema.StringAttribute{Computed: true, Sensitive: true},
	}}
}

func (*token) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	resp.Result.Raw = req.Config.Raw
	resp.Diagnostics.Append(resp.Result.SetAttribute(ctx, path.Root("value"), types.StringValue("t0ken"))...)
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, "lease", []byte(`1`))...)
	resp.RenewAt = time.Unix(1900000000, 500)
}

func (*token) Renew(ctx context.Context, req ephemeral.RenewRequest, resp *ephemeral.RenewResponse) {
	lease, diagnostics := req.Private.GetKey(ctx, "lease")
	resp.Diagnostics.Append(diagnostics...)
	resp.Diagnostics.AddWarning("Renewed", string(lease))
	resp.Diagnostics.Append(resp.Private.SetKey(ctx, "lease", []byte(`2`))...)
}

func (*token) Close(ctx context.Context, req ephemeral.CloseRequest, resp *ephemeral.CloseResponse) {
	lease, diagnostics := req.Private.GetKey(ctx, "lease")
	resp.Diagnostics.Append(diagnostics...)
	resp.Diagnostics.AddWarning("Closed", string(lease))
}

type shout struct{}

func (*shout) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "shout"
}

func (*shout) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Parameters: []function.Parameter{function.StringParameter{Name: "text", AllowNullValue: true}},
		Return:     function.StringReturn{},
	}
}

func (*shout) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var text *string
	resp.Error = function.ConcatFuncErrors(resp.Error, req.Arguments.Get(ctx, &text))
	if text == nil {
		resp.Error = function.ConcatFuncErrors(resp.Error, function.NewArgumentFuncError(0, "there is no text"))
		return
	}
	resp.Error = function.ConcatFuncErrors(resp.Error, resp.Result.Set(ctx, *text+"!"))
}
