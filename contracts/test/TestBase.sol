// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice The cheatcodes of forge that these tests use.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    function addr(uint256 key) external pure returns (address);
    function sign(uint256 key, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function prank(address sender) external;
    function warp(uint256 timestamp) external;
    function envOr(string calldata name, string calldata otherwise)
        external
        view
        returns (string memory);
    function readFile(string calldata path) external view returns (string memory);
    function parseJsonBytes(string calldata json, string calldata key)
        external
        pure
        returns (bytes memory);
    function etch(address target, bytes calldata code) external;
    function expectRevert(bytes calldata data) external;
    function expectRevert(bytes4 selector) external;
    function expectRevert() external;
    function expectEmit() external;
    function recordLogs() external;
    function getRecordedLogs() external returns (Log[] memory);
    function snapshotState() external returns (uint256 id);
    function revertToState(uint256 id) external returns (bool);
    function load(address target, bytes32 slot) external view returns (bytes32);
    function store(address target, bytes32 slot, bytes32 value) external;
    function record() external;
    function accesses(address target)
        external
        returns (bytes32[] memory reads, bytes32[] memory writes);
}

/// @title The assertions and bounds that these tests need from a test library.
abstract contract TestBase {
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    error NotEqual(uint256 actual, uint256 expected, string what);
    error NotTrue(string what);

    /// @dev The creation code of the committed artifact, or of the one that the environment names.
    /// With that, mutations.ts runs the same tests on a changed contract.
    function codeOf(string memory artifact) internal view returns (bytes memory) {
        string memory path = string.concat("contracts/artifacts/", artifact, ".json");
        path = vm.envOr(string.concat("ARTIFACT_", artifact), path);
        return vm.parseJsonBytes(vm.readFile(path), ".bytecode");
    }

    function deploy(string memory artifact, bytes memory arguments)
        internal
        returns (address deployed)
    {
        bytes memory creation = bytes.concat(codeOf(artifact), arguments);
        assembly ("memory-safe") {
            deployed := create(0, add(creation, 0x20), mload(creation))
            if iszero(deployed) {
                returndatacopy(0, 0, returndatasize())
                revert(0, returndatasize())
            }
        }
    }

    /// @dev The address of the first contract that `creator` creates.
    function firstCreationOf(address creator) internal pure returns (address) {
        bytes memory rlp = abi.encodePacked(hex"d694", creator, hex"01");
        return address(uint160(uint256(keccak256(rlp))));
    }

    function assertEq(uint256 actual, uint256 expected, string memory what) internal pure {
        if (actual != expected) revert NotEqual(actual, expected, what);
    }

    function assertEq(address actual, address expected, string memory what) internal pure {
        if (actual != expected) revert NotEqual(uint160(actual), uint160(expected), what);
    }

    function assertEq(bytes32 actual, bytes32 expected, string memory what) internal pure {
        if (actual != expected) revert NotEqual(uint256(actual), uint256(expected), what);
    }

    function assertTrue(bool holds, string memory what) internal pure {
        if (!holds) revert NotTrue(what);
    }

    /// @dev Expects a custom error with this argument, or with these two.
    function expectError(bytes4 selector, address account) internal {
        vm.expectRevert(abi.encodeWithSelector(selector, account));
    }

    function expectError(bytes4 selector, uint256 value) internal {
        vm.expectRevert(abi.encodeWithSelector(selector, value));
    }

    function expectError(bytes4 selector, uint256 a, uint256 b) internal {
        vm.expectRevert(abi.encodeWithSelector(selector, a, b));
    }

    function expectError(bytes4 selector, address account, uint256 value) internal {
        vm.expectRevert(abi.encodeWithSelector(selector, account, value));
    }

    function expectError(bytes4 selector, address a, address b) internal {
        vm.expectRevert(abi.encodeWithSelector(selector, a, b));
    }

    function expectError(bytes4 selector, address account, bytes32 value) internal {
        vm.expectRevert(abi.encodeWithSelector(selector, account, value));
    }

    function expectError(bytes4 selector, uint256 value, address account) internal {
        vm.expectRevert(abi.encodeWithSelector(selector, value, account));
    }

    /// @dev Maps any number into `low`..`high`, both included.
    function bound(uint256 value, uint256 low, uint256 high) internal pure returns (uint256) {
        if (value >= low && value <= high) return value;
        return low + value % (high - low + 1);
    }
}
