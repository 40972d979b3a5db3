package vppmodel

import "go.fd.io/govpp/api"

// Return codes, after src/vnet/error.h of VPP 25.10. Named here where govpp's name is another one or long.
const (
	ok                int32 = 0
	unspecified             = int32(api.UNSPECIFIED)
	invalidIndex            = int32(api.INVALID_SW_IF_INDEX)
	invalidIndex2           = int32(api.INVALID_SW_IF_INDEX_2)
	noSuchFIB               = int32(api.NO_SUCH_FIB)
	noSuchEntry             = int32(api.NO_SUCH_ENTRY)
	noSuchTable             = int32(api.NO_SUCH_TABLE)
	classifierMissing       = int32(api.CLASSIFY_TABLE_NOT_FOUND)
	invalidMemorySize       = int32(api.INVALID_MEMORY_SIZE)
	invalidValue            = int32(api.INVALID_VALUE)
	unimplemented           = int32(api.UNIMPLEMENTED)
	syscallError1           = int32(api.SYSCALL_ERROR_1)
	syscallError2           = int32(api.SYSCALL_ERROR_2)
	syscallError3           = int32(api.SYSCALL_ERROR_3)
	featureDisabled         = int32(api.FEATURE_DISABLED)
	invalidReg              = int32(api.INVALID_REGISTRATION)
	noPathsInRoute    int32 = -52 // NO_PATHS_IN_ROUTE in VPP; govpp still has the older PREFIX_MATCHES_NEXT_HOP
	noInterface             = int32(api.NO_MATCHING_INTERFACE)
	lengthMismatch          = int32(api.ADDRESS_LENGTH_MISMATCH)
	addressNotFound         = int32(api.ADDRESS_NOT_FOUND_FOR_INTERFACE)
	invalidInterface        = int32(api.INVALID_INTERFACE)
	unexpectedState         = int32(api.UNEXPECTED_INTF_STATE)
	tunnelExists            = int32(api.TUNNEL_EXIST)
	invalidDecapNext        = int32(api.INVALID_DECAP_NEXT)
	interfaceExists         = int32(api.IF_ALREADY_EXISTS)
	sameSrcDst              = int32(api.SAME_SRC_DST)
	addressInUse            = int32(api.ADDRESS_IN_USE)
	hasAddress              = int32(api.ADDRESS_FOUND_FOR_INTERFACE)
	bridgeExists            = int32(api.BD_ALREADY_EXISTS)
	bridgeInUse             = int32(api.BD_IN_USE)
	bridgeFixed             = int32(api.BD_NOT_MODIFIABLE)
	bridgeIDTooLarge        = int32(api.BD_ID_EXCEED_MAX)
	unsupported             = int32(api.UNSUPPORTED)
	duplicateAddress        = int32(api.DUPLICATE_IF_ADDRESS)
	initFailed              = int32(api.INIT_FAILED)
	netlinkError            = int32(api.NETLINK_ERROR)
	instanceInUse           = int32(api.INSTANCE_IN_USE)
	valueExists             = int32(api.VALUE_EXIST)
	featureAlreadyOn        = int32(api.FEATURE_ALREADY_ENABLED)
	featureAlreadyOff       = int32(api.FEATURE_ALREADY_DISABLED)
	bridgeHasBVI            = int32(api.BD_ALREADY_HAS_BVI)
	badNextHopFamily        = int32(api.FIB_PATH_UNSUPPORTED_NH_PROTO)
	limitExceeded           = int32(api.LIMIT_EXCEEDED)
	invalidPrefixLen        = int32(api.INVALID_PREFIX_LENGTH)
)

// none is VPP's ~0: no interface, no table, any instance.
const none = ^uint32(0)
