// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {TimelockController} from "@openzeppelin/contracts/governance/TimelockController.sol";

/// @title The timelock that governs one settlement contract.
/// @notice OpenZeppelin's, with two bounds on top: an operation lapses, and the delay stays within
/// bounds even if an operation sets another one. Proposers schedule, anyone executes after the delay,
/// and only the settlement contract cancels, when one of its guardians calls it. A proposer is no
/// canceller, or a stolen proposer's key could cancel its own removal each time, forever.
/// @dev The settlement contract makes it in its constructor: its address is that of the contract's
/// second creation (nonce 2). It is its own admin, so its roles change by operations only.
contract Timelock is TimelockController {
    /// @notice An operation lapses this long after it could have been executed.
    uint256 public constant OPERATION_LIFE = 7 days;

    /// @notice The delay that it was deployed with. It never becomes shorter.
    uint256 public immutable LEAST_DELAY;

    /// @notice The delay never becomes longer than this, or than {LEAST_DELAY} if that is longer.
    uint256 public constant MOST_DELAY = 30 days;

    /// @param proposers Who may schedule operations.
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
    /// @dev A lapsed operation is as if it had never been scheduled.
    function getOperationState(bytes32 id) public view override returns (OperationState state) {
        state = super.getOperationState(id);
        if (state != OperationState.Ready) return state;
        if (block.timestamp > getTimestamp(id) + OPERATION_LIFE) return OperationState.Unset;
    }
}
