// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {TimelockController} from "@openzeppelin/contracts/governance/TimelockController.sol";

/// @title The timelock that governs one settlement contract.
/// @notice OpenZeppelin's timelock with two additions: an operation expires, and the delay stays
/// within bounds even if an operation sets another one. Proposers schedule, anyone executes after
/// the delay, and only the settlement contract cancels, when one of its guardians calls it.
/// Proposers cannot cancel; otherwise a stolen proposer's key could cancel its own removal forever.
/// @dev The settlement contract creates it, at the address of its second creation (nonce 2). It is
/// its own admin, so its roles change by operations only.
contract Timelock is TimelockController {
    /// @notice The time after which an executable operation expires.
    uint256 public constant OPERATION_LIFE = 7 days;

    /// @notice The delay at deployment, which is also the shortest.
    uint256 public immutable LEAST_DELAY;

    /// @notice The longest delay, unless {LEAST_DELAY} is longer.
    uint256 public constant MOST_DELAY = 30 days;

    /// @param proposers The accounts that may schedule operations.
    constructor(uint256 delay, address[] memory proposers)
        TimelockController(delay, new address[](0), new address[](1), address(0))
    {
        LEAST_DELAY = delay;
        for (uint256 i = 0; i < proposers.length; ++i) _grantRole(PROPOSER_ROLE, proposers[i]);
        _grantRole(CANCELLER_ROLE, msg.sender);
    }

    /// @inheritdoc TimelockController
    function getMinDelay() public view override returns (uint256 delay) {
        delay = super.getMinDelay();
        if (delay > MOST_DELAY) delay = MOST_DELAY;
        if (delay < LEAST_DELAY) delay = LEAST_DELAY;
    }

    /// @inheritdoc TimelockController
    /// @dev An expired operation counts as never scheduled.
    function getOperationState(bytes32 id) public view override returns (OperationState state) {
        state = super.getOperationState(id);
        if (state != OperationState.Ready) return state;
        if (block.timestamp > getTimestamp(id) + OPERATION_LIFE) return OperationState.Unset;
    }
}
