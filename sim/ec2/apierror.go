package ec2

// Codes of EC2's API errors that the model answers with.
const (
	CodeThrottled       = "RequestLimitExceeded"
	CodeSubnetFull      = "InsufficientFreeAddressesInSubnet"
	CodeNoBlock         = "InsufficientCidrBlocks"
	CodeTooManyENIs     = "AttachmentLimitExceeded"
	CodeTooManyIPs      = "PrivateIpAddressLimitExceeded"
	CodeUnknownENI      = "InvalidNetworkInterfaceID.NotFound"
	CodeNotAssigned     = "InvalidParameterValue"
	CodeNotDetachable   = "OperationNotPermitted"
	CodeInternal        = "InternalError"
	CodeInvalidQuantity = "InvalidParameterCombination"
	// CodeInvalid is EC2's for most of what it does not take, among it the deletion of an interface in use.
	CodeInvalid           = "InvalidParameterValue"
	CodeUnknownInstance   = "InvalidInstanceID.NotFound"
	CodeUnknownSubnet     = "InvalidSubnetID.NotFound"
	CodeUnknownAttachment = "InvalidAttachmentID.NotFound"
	CodeInUse             = "InvalidNetworkInterface.InUse"
)

// APIError is a refusal: nothing was done.
type APIError struct{ Code, Message string }

func (e *APIError) Error() string { return e.Code + ": " + e.Message }

// ErrorCode is the code, by the name under which the AWS SDK's errors have it.
func (e *APIError) ErrorCode() string { return e.Code }
