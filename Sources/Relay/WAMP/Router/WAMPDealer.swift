import NIOCore

/// The dealer: the calls that wait for the sessions that have registered their procedures (WAMP, 6). A value without output and
/// without a clock.
struct WAMPDealer {
    private(set) var registrations = WAMPRegistrations()
    /// The calls, by the callee's request, and its key by the caller's request.
    private var calls: [WAMPCall.Key: WAMPCall] = [:]
    private var invocations: [WAMPCall.Key: WAMPCall.Key] = [:]
    /// The number of calls that a session has made, and of those that it is to answer.
    private var made: [UInt64: Int] = [:]
    private var owed: [UInt64: Int] = [:]
    /// The number of the last INVOCATION to a session.
    private var lastInvocation: [UInt64: UInt64] = [:]
    /// The sessions that understand INTERRUPT.
    private var interruptible: Set<UInt64> = []

    /// Whether calls wait.
    var isWaiting: Bool { !self.calls.isEmpty }

    // MARK: Sessions and registrations

    mutating func joined(_ session: UInt64, canBeInterrupted: Bool) {
        if canBeInterrupted { self.interruptible.insert(session) }
    }

    mutating func register(_ procedure: String, by session: UInt64) throws(WAMPFailure) -> UInt64 {
        try self.registrations.register(procedure, by: session)
    }

    mutating func unregister(_ id: UInt64, by session: UInt64) throws(WAMPFailure) {
        try self.registrations.unregister(id, by: session)
    }

    // MARK: Calls

    /// Returns whether a session waits for the result of a call with this number.
    func isPending(_ request: UInt64, of session: UInt64) -> Bool {
        self.invocations[WAMPCall.Key(session: session, request: request)] != nil
    }

    /// Returns whether a session is to answer an invocation with this number.
    func isOwed(_ invocation: UInt64, by session: UInt64) -> Bool {
        self.calls[WAMPCall.Key(session: session, request: invocation)] != nil
    }

    /// Passes a call on.
    ///
    /// - Parameter isReady: returns whether a session keeps up with what it is sent.
    mutating func call(
        _ request: UInt64,
        _ options: WAMPRequest.CallOptions,
        _ procedure: String,
        _ payload: WAMPPayload,
        from caller: UInt64,
        now: NIODeadline,
        isReady: (UInt64) -> Bool
    ) throws(WAMPFailure) -> [WAMPAction] {
        guard let registration = self.registrations[procedure] else {
            throw WAMPFailure(.noSuchProcedure, "there is no such procedure")
        }
        let callee = registration.session
        guard self.made[caller] ?? 0 < WAMPLimits.pendingCalls else {
            throw WAMPFailure(.tooManyCalls, "\(WAMPLimits.pendingCalls) calls of the session wait")
        }
        guard self.owed[callee] ?? 0 < WAMPLimits.pendingCalls, isReady(callee) else {
            throw WAMPFailure(.busy, "the procedure's session has too many calls to answer")
        }
        let number = (self.lastInvocation[callee] ?? 0) + 1
        self.lastInvocation[callee] = number
        // A limit of a day and one of a year are the relay's limit as well.
        let asked = options.timeout.map { TimeAmount.milliseconds(min($0, 86_400_000)) }
        let call = WAMPCall(
            call: WAMPCall.Key(session: caller, request: request),
            invocation: WAMPCall.Key(session: callee, request: number),
            receivesProgress: options.receivesProgress,
            deadline: now + min(asked ?? WAMPLimits.callTimeout, WAMPLimits.callTimeout)
        )
        self.calls[call.invocation] = call
        self.invocations[call.call] = call.invocation
        self.made[caller, default: 0] += 1
        self.owed[callee, default: 0] += 1
        let invocation = WAMPMessage.invocation(
            number,
            registration: registration.id,
            receivesProgress: options.receivesProgress,
            payload
        )
        return [.send(invocation, to: callee)]
    }

    /// Takes a result of a callee. The result of a call that no longer waits is ignored: it was canceled or too late.
    mutating func yield(
        _ invocation: UInt64,
        isProgress: Bool,
        _ payload: WAMPPayload,
        from callee: UInt64
    ) -> [WAMPAction] {
        guard let call = self.calls[WAMPCall.Key(session: callee, request: invocation)] else { return [] }
        if isProgress {
            guard call.receivesProgress, !call.isKilled else { return [] }
        } else {
            self.end(call)
        }
        return [.send(.result(call.call.request, isProgress: isProgress, payload), to: call.call.session)]
    }

    /// Takes the failure of an invocation.
    mutating func failed(_ invocation: UInt64, _ failure: WAMPFailure, from callee: UInt64) -> [WAMPAction] {
        guard let call = self.calls[WAMPCall.Key(session: callee, request: invocation)] else { return [] }
        return [self.fail(call, failure)]
    }

    /// Cancels a call. One whose callee is still to answer the interruption can be ended at once. A callee that does not
    /// understand INTERRUPT is not asked to end it.
    mutating func cancel(_ request: UInt64, _ mode: WAMPRequest.CancelMode, from caller: UInt64) -> [WAMPAction] {
        let key = WAMPCall.Key(session: caller, request: request)
        guard let invocation = self.invocations[key], let call = self.calls[invocation] else { return [] }
        let failure = WAMPFailure(.canceled, "the call was canceled")
        guard self.interruptible.contains(invocation.session) else { return [self.fail(call, failure)] }
        switch mode {
        case .skip: return [self.fail(call, failure)]
        case .killnowait: return self.giveUp(call, failure)
        case .kill:
            guard !call.isKilled else { return [] }
            self.calls[invocation]?.isKilled = true
            return [.send(.interrupt(invocation.request, .kill), to: invocation.session)]
        }
    }

    /// Ends the calls that have taken too long.
    mutating func timePassed(now: NIODeadline) -> [WAMPAction] {
        let failure = WAMPFailure(.timeout, "the call has taken too long")
        return self.calls.values.filter { $0.deadline <= now }.flatMap { self.giveUp($0, failure) }
    }

    /// Ends the calls and registrations of a session.
    mutating func left(_ session: UInt64) -> [WAMPAction] {
        self.lastInvocation[session] = nil
        self.registrations.left(session)
        var actions: [WAMPAction] = []
        if self.made[session] != nil || self.owed[session] != nil {
            for call in self.calls.values {
                if call.invocation.session == session {
                    let failed = self.fail(call, WAMPFailure(.canceled, "the procedure's session has ended"))
                    if call.call.session != session { actions.append(failed) }
                } else if call.call.session == session {
                    self.end(call)
                    if self.mustInterrupt(call) { actions.append(self.interrupt(call)) }
                }
            }
        }
        self.interruptible.remove(session)
        return actions
    }

    private mutating func giveUp(_ call: WAMPCall, _ failure: WAMPFailure) -> [WAMPAction] {
        (self.mustInterrupt(call) ? [self.interrupt(call)] : []) + [self.fail(call, failure)]
    }

    /// Returns whether a callee must get an INTERRUPT for the end of a call; it gets one at most.
    private func mustInterrupt(_ call: WAMPCall) -> Bool {
        self.interruptible.contains(call.invocation.session) && !call.isKilled
    }

    private func interrupt(_ call: WAMPCall) -> WAMPAction {
        .send(.interrupt(call.invocation.request, .killnowait), to: call.invocation.session)
    }

    private mutating func fail(_ call: WAMPCall, _ failure: WAMPFailure) -> WAMPAction {
        self.end(call)
        return .send(.error(.call, call.call.request, failure), to: call.call.session)
    }

    private mutating func end(_ call: WAMPCall) {
        self.calls[call.invocation] = nil
        self.invocations[call.call] = nil
        Self.decrement(&self.made, call.call.session)
        Self.decrement(&self.owed, call.invocation.session)
    }

    private static func decrement(_ counts: inout [UInt64: Int], _ session: UInt64) {
        let left = (counts[session] ?? 1) - 1
        counts[session] = left == 0 ? nil : left
    }
}
