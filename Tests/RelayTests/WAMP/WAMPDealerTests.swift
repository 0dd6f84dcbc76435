import NIOCore
import Testing
@testable import Relay

@Suite("The dealer of WAMP")
struct WAMPDealerTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000)
    private static let arguments = WAMPPayload(arguments: [.integer(1)])

    /// Makes a dealer where session 9, which understands INTERRUPT, answers `p`.
    private static func dealer(canBeInterrupted: Bool = true) throws -> WAMPDealer {
        var dealer = WAMPDealer()
        dealer.joined(9, canBeInterrupted: canBeInterrupted)
        _ = try dealer.register("p", by: 9)
        return dealer
    }

    private static func call(
        _ dealer: inout WAMPDealer,
        _ request: UInt64 = 5,
        from caller: UInt64 = 1,
        _ options: WAMPRequest.CallOptions = WAMPRequest.CallOptions()
    ) throws -> [WAMPAction] {
        try dealer.call(request, options, "p", Self.arguments, from: caller, now: Self.start) { _ in true }
    }

    private static func error(_ request: UInt64, _ uri: WAMPErrorURI, _ text: String) -> WAMPMessage {
        .error(.call, request, WAMPFailure(uri, text))
    }

    @Test("a call becomes an invocation, and its result goes to the caller, once")
    func result() throws {
        var dealer = try Self.dealer()
        let invocation = WAMPMessage.invocation(1, registration: 1, receivesProgress: false, Self.arguments)
        #expect(try Self.call(&dealer) == [.send(invocation, to: 9)])
        #expect(dealer.isWaiting && dealer.isPending(5, of: 1) && dealer.isOwed(1, by: 9))
        #expect(
            dealer.yield(1, isProgress: false, Self.arguments, from: 8) == [],
            "another session's answer is ignored"
        )
        #expect(dealer.yield(1, isProgress: true, Self.arguments, from: 9) == [], "progress that was not asked for")
        let result = WAMPMessage.result(5, isProgress: false, Self.arguments)
        #expect(dealer.yield(1, isProgress: false, Self.arguments, from: 9) == [.send(result, to: 1)])
        #expect(dealer.yield(1, isProgress: false, Self.arguments, from: 9) == [] && !dealer.isWaiting)
        let second = WAMPMessage.invocation(2, registration: 1, receivesProgress: true, Self.arguments)
        let asked = WAMPRequest.CallOptions(receivesProgress: true)
        #expect(try Self.call(&dealer, 6, asked) == [.send(second, to: 9)])
        let progress = WAMPMessage.result(6, isProgress: true, Self.arguments)
        #expect(dealer.yield(2, isProgress: true, Self.arguments, from: 9) == [.send(progress, to: 1)])
        let failure = WAMPFailure(uri: "a.b", payload: Self.arguments)
        #expect(dealer.failed(2, failure, from: 9) == [.send(.error(.call, 6, failure), to: 1)])
    }

    @Test("a canceled call fails at once, or when the callee has answered the interruption")
    func cancels() throws {
        let canceled = Self.error(5, .canceled, "the call was canceled")
        var dealer = try Self.dealer()
        _ = try Self.call(&dealer)
        #expect(dealer.cancel(6, .skip, from: 1) == [] && dealer.cancel(5, .skip, from: 2) == [])
        #expect(dealer.cancel(5, .skip, from: 1) == [.send(canceled, to: 1)])
        _ = try Self.call(&dealer)
        #expect(
            dealer.cancel(5, .killnowait, from: 1)
                == [.send(.interrupt(2, .killnowait), to: 9), .send(canceled, to: 1)]
        )
        _ = try Self.call(&dealer)
        #expect(dealer.cancel(5, .kill, from: 1) == [.send(.interrupt(3, .kill), to: 9)])
        #expect(dealer.cancel(5, .kill, from: 1) == [])
        let failure = WAMPFailure(.canceled, "stopped")
        #expect(dealer.failed(3, failure, from: 9) == [.send(.error(.call, 5, failure), to: 1)])
        var simple = try Self.dealer(canBeInterrupted: false)
        _ = try Self.call(&simple)
        #expect(simple.cancel(5, .kill, from: 1) == [.send(canceled, to: 1)])
    }

    @Test("a session that leaves fails the calls it was to answer, and its own are interrupted")
    func leaves() throws {
        var dealer = try Self.dealer()
        _ = try Self.call(&dealer)
        _ = try Self.call(&dealer, from: 2)
        #expect(dealer.left(2) == [.send(.interrupt(2, .killnowait), to: 9)])
        let gone = Self.error(5, .canceled, "the procedure's session has ended")
        #expect(dealer.left(9) == [.send(gone, to: 1)])
        #expect(!dealer.isWaiting && dealer.registrations["p"] == nil && dealer.registrations.all.isEmpty)
        #expect(throws: WAMPFailure(.noSuchProcedure, "there is no such procedure")) { try Self.call(&dealer) }
        _ = try dealer.register("p", by: 3)
        _ = try Self.call(&dealer, from: 3)
        #expect(dealer.left(3) == [], "nobody is left to be told")
    }

    @Test("a call ends after the relay's limit of time, or the caller's if that is shorter")
    func timeout() throws {
        var dealer = try Self.dealer()
        _ = try Self.call(&dealer)
        _ = try Self.call(&dealer, 6, WAMPRequest.CallOptions(timeout: 500))
        _ = try Self.call(&dealer, 7, WAMPRequest.CallOptions(timeout: .max))
        #expect(dealer.timePassed(now: Self.start + .milliseconds(499)) == [])
        let late = Self.error(6, .timeout, "the call has taken too long")
        #expect(
            dealer.timePassed(now: Self.start + .milliseconds(500))
                == [.send(.interrupt(2, .killnowait), to: 9), .send(late, to: 1)]
        )
        #expect(dealer.timePassed(now: Self.start + .seconds(60)).count == 4 && !dealer.isWaiting)
    }

    @Test("calls and registrations are limited, for the caller and for the callee")
    func limits() throws {
        var dealer = try Self.dealer()
        for request in 1...UInt64(WAMPLimits.pendingCalls) { _ = try Self.call(&dealer, request) }
        #expect(throws: WAMPFailure.self) { try Self.call(&dealer, 100) }
        #expect(throws: WAMPFailure.self, "the callee owes as many") { try Self.call(&dealer, from: 2) }
        _ = dealer.cancel(1, .skip, from: 1)
        _ = try Self.call(&dealer, from: 2)
        for number in 1..<WAMPLimits.registrations { _ = try dealer.register("q\(number)", by: 9) }
        #expect(throws: WAMPFailure.self) { try dealer.register("q", by: 9) }
        #expect(throws: WAMPFailure.self) { try dealer.register("p", by: 1) }
        #expect(throws: WAMPFailure.self) { try dealer.unregister(1, by: 1) }
        try dealer.unregister(1, by: 9)
        #expect(try dealer.register("p", by: 1) == UInt64(WAMPLimits.registrations) + 1)
        var slow = try Self.dealer()
        #expect(throws: WAMPFailure.self) {
            try slow.call(1, WAMPRequest.CallOptions(), "p", WAMPPayload(), from: 1, now: Self.start) { _ in false }
        }
    }

    @Test("a call whose interruption is not answered yet can be ended at once, and is not interrupted twice")
    func endsKilled() throws {
        let canceled = Self.error(5, .canceled, "the call was canceled")
        for mode in [WAMPRequest.CancelMode.skip, .killnowait] {
            var dealer = try Self.dealer()
            _ = try Self.call(&dealer)
            #expect(dealer.cancel(5, .kill, from: 1) == [.send(.interrupt(1, .kill), to: 9)])
            #expect(dealer.cancel(5, mode, from: 1) == [.send(canceled, to: 1)] && !dealer.isWaiting)
        }
        var dealer = try Self.dealer()
        _ = try Self.call(&dealer)
        _ = dealer.cancel(5, .kill, from: 1)
        #expect(dealer.left(1) == [] && !dealer.isWaiting)
    }

    @Test("procedures of other bytes are other procedures, even if they look the same")
    func equivalentProcedures() throws {
        var dealer = WAMPDealer()
        let (first, second) = (try dealer.register("com.\u{E9}", by: 1), try dealer.register("com.e\u{301}", by: 2))
        #expect(dealer.registrations["com.\u{E9}"]?.id == first && dealer.registrations["com.e\u{301}"]?.id == second)
    }
}
