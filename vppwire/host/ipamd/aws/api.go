package aws

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// operation is one of the SDK's.
type operation[In, Out any] = func(context.Context, *In, ...func(*ec2.Options)) (*Out, error)

// api is what is asked of EC2. The SDK's client itself is kept nowhere: what could find it by reflection keeps its 700
// operations in every program that links this package, 40 MB.
type api struct {
	describeNetworkInterfaces       operation[ec2.DescribeNetworkInterfacesInput, ec2.DescribeNetworkInterfacesOutput]
	describeInstances               operation[ec2.DescribeInstancesInput, ec2.DescribeInstancesOutput]
	describeSubnets                 operation[ec2.DescribeSubnetsInput, ec2.DescribeSubnetsOutput]
	describeInstanceTypes           operation[ec2.DescribeInstanceTypesInput, ec2.DescribeInstanceTypesOutput]
	createNetworkInterface          operation[ec2.CreateNetworkInterfaceInput, ec2.CreateNetworkInterfaceOutput]
	attachNetworkInterface          operation[ec2.AttachNetworkInterfaceInput, ec2.AttachNetworkInterfaceOutput]
	modifyNetworkInterfaceAttribute operation[ec2.ModifyNetworkInterfaceAttributeInput, ec2.ModifyNetworkInterfaceAttributeOutput]
	detachNetworkInterface          operation[ec2.DetachNetworkInterfaceInput, ec2.DetachNetworkInterfaceOutput]
	deleteNetworkInterface          operation[ec2.DeleteNetworkInterfaceInput, ec2.DeleteNetworkInterfaceOutput]
	assignPrivateIpAddresses        operation[ec2.AssignPrivateIpAddressesInput, ec2.AssignPrivateIpAddressesOutput]
	unassignPrivateIpAddresses      operation[ec2.UnassignPrivateIpAddressesInput, ec2.UnassignPrivateIpAddressesOutput]
}

func apiOf(c *ec2.Client) api {
	return api{
		describeNetworkInterfaces:       c.DescribeNetworkInterfaces,
		describeInstances:               c.DescribeInstances,
		describeSubnets:                 c.DescribeSubnets,
		describeInstanceTypes:           c.DescribeInstanceTypes,
		createNetworkInterface:          c.CreateNetworkInterface,
		attachNetworkInterface:          c.AttachNetworkInterface,
		modifyNetworkInterfaceAttribute: c.ModifyNetworkInterfaceAttribute,
		detachNetworkInterface:          c.DetachNetworkInterface,
		deleteNetworkInterface:          c.DeleteNetworkInterface,
		assignPrivateIpAddresses:        c.AssignPrivateIpAddresses,
		unassignPrivateIpAddresses:      c.UnassignPrivateIpAddresses,
	}
}

// pages makes a request for each page of a listing, from the token of the page before, nil for the first.
func pages(page func(token *string) (next *string, err error)) error {
	for token, err := page(nil); ; token, err = page(token) {
		if err != nil || token == nil || *token == "" {
			return err
		}
	}
}

// request is one request to EC2, within its time, counted.
func request[In, Out any](ctx context.Context, c *Client, name string, do operation[In, Out], in *In) (*Out, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	began := time.Now()
	out, err := do(ctx, in)
	c.cfg.Requested(name, time.Since(began), err)
	if err != nil {
		return nil, understood(name, err)
	}
	return out, nil
}
