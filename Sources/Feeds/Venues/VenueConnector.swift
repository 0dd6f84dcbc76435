import NIOConcurrencyHelpers
package import NIOCore

/// The way to a venue: its address, or another one if the venue refuses this location there or the name is unknown.
///
/// The other address is tried within the same attempt, and stays in use while it works.
package final class VenueConnector: Connecting {
    /// One of the addresses.
    package struct Way: Sendable {
        var address: UpstreamAddress
        var connector: any Connecting

        package init(_ address: UpstreamAddress, _ connector: any Connecting) {
            self.address = address
            self.connector = connector
        }
    }

    private struct State {
        /// The index of the way in use.
        var current = 0
        /// Why it is not the first one.
        var reason: String?
    }

    private let ways: [Way]
    private let state = NIOLockedValueBox(State())

    /// - Precondition: there is a way.
    package init(_ ways: [Way]) {
        precondition(!ways.isEmpty)
        self.ways = ways
    }

    /// The address in use.
    package var address: UpstreamAddress { self.ways[self.state.withLockedValue { $0.current }].address }

    /// Why the address in use is not the first one, for people; `nil` if it is.
    package var detour: String? {
        self.state.withLockedValue { state in
            state.reason.map { "through \(self.ways[state.current].address.place), since \($0)" }
        }
    }

    package func connect(
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
    ) -> EventLoopFuture<Void> {
        let index = self.state.withLockedValue { $0.current }
        return self.ways[index].connector.connect(on: loop, reached: reached, connected: connected)
            .assumeIsolated()
            .flatMapError { error in
                self.failed(UpstreamFailure(error), at: index, on: loop, reached: reached, connected: connected)
            }
            .nonisolated()
    }

    private func failed(
        _ failure: UpstreamFailure,
        at index: Int,
        on loop: any EventLoop,
        reached: @escaping (any Channel) throws -> Void,
        connected: @escaping (any Channel, _ isRelay: Bool) throws -> Void
    ) -> EventLoopFuture<Void> {
        guard failure.isOfLocation || failure.cause == .name, index + 1 < self.ways.count else {
            let reason = self.state.withLockedValue { state in
                defer { state = State() }
                return state.reason
            }
            var failure = failure
            if index > 0, let reason { failure.description = "\(reason); and \(failure.description)" }
            return loop.makeFailedFuture(failure)
        }
        self.state.withLockedValue { state in
            let earlier = state.reason.map { "\($0); and " } ?? ""
            state = State(current: index + 1, reason: earlier + failure.description)
        }
        return self.connect(on: loop, reached: reached, connected: connected)
    }
}
