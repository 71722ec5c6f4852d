// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title The storage that Coinbase's Smart Wallet writes when its factory deploys it.
/// @dev Not that wallet: only what the gas of its deployment depends on, which is a proxy of 61
/// bytes, the implementation's slot, a count of owners, and for each owner its bytes and a flag.
contract CoinbaseWallet {
    uint256 private nextOwnerIndex;
    mapping(uint256 index => bytes owner) private ownerAtIndex;
    mapping(bytes owner => bool) private isOwner;

    function initialize(bytes[] calldata owners) external payable {
        require(nextOwnerIndex == 0);
        for (uint256 i = 0; i < owners.length; ++i) {
            isOwner[owners[i]] = true;
            ownerAtIndex[i] = owners[i];
        }
        nextOwnerIndex = owners.length;
    }
}

contract CoinbaseWalletFactory {
    bytes private constant PROXY = hex"363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076cc3735a9"
        hex"20a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3";
    bytes32 private constant SLOT =
        0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;
    address private immutable IMPLEMENTATION = address(new CoinbaseWallet());

    /// @dev The proxy's creation code stores the implementation and returns the 61 bytes.
    function createAccount(bytes[] calldata owners, uint256 nonce) external returns (address made) {
        bytes memory code = abi.encodePacked(
            hex"73", IMPLEMENTATION, hex"7f", SLOT, hex"55603d8060405f395ff3", PROXY
        );
        bytes32 salt = keccak256(abi.encode(owners, nonce));
        assembly ("memory-safe") {
            made := create2(0, add(code, 0x20), mload(code), salt)
        }
        CoinbaseWallet(made).initialize(owners);
    }
}
