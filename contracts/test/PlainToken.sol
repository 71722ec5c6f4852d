// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title OpenZeppelin's ERC-20 with nothing added, for measuring the gas table.
contract PlainToken is ERC20 {
    constructor() ERC20("Plain token", "PLAIN") {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}
