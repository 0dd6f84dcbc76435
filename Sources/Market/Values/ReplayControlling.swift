/// The reason why a replay refused a request, in one line.
package struct ReplayRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// The interface of a running replay for a display and a relay: its position, and requests to it.
///
/// Every method may be called from any thread and returns at once.
package protocol ReplayControlling: AnyObject, Sendable {
    /// Returns the replay's current position.
    func position() -> ReplayPosition
    /// Sends a request. `answer` is called once, on the replay's own thread, with the new position or the reason for a
    /// refusal.
    func request(
        _ request: ReplayRequest,
        answer: @escaping @Sendable (Result<ReplayPosition, ReplayRefusal>) -> Void
    )
    /// Registers `changed`, which is called on the replay's own thread whenever the replay's place, its speed or its
    /// pause has been changed by a request, and when the replay restarts. It must neither wait nor call `watch`.
    func watch(_ changed: @escaping @Sendable (ReplayPosition) -> Void)
}

extension ReplayControlling {
    /// Sends a request without waiting for its result.
    package func request(_ request: ReplayRequest) { self.request(request) { _ in } }
}

extension ReplayRequest {
    /// The speeds of ``faster`` and ``slower``, slowest first; the step after the last is as fast as possible.
    package static let rungs: [Double] = [0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000]
    /// The speeds that can be requested.
    package static let speeds: ClosedRange<Double> = 0.01...10_000
    /// The largest number of messages in one step.
    package static let maximumMessages = 100_000
}

extension ReplayPosition {
    /// The position as a percentage of the length, 0 to 100.
    package var percent: Double {
        guard self.end > self.start else { return 100 }
        let (way, length) = (self.at.subtractingCapped(self.start), self.end.subtractingCapped(self.start))
        return min(max(Double(way) / Double(length) * 100, 0), 100)
    }
}
