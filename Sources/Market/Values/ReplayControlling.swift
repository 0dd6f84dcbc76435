/// Why a replay does not do what it was asked, in one line.
package struct ReplayRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// A running replay, as a display and a relay see it: where it stands, and what it can be asked.
///
/// All of it may be called from any thread and returns at once.
package protocol ReplayControlling: AnyObject, Sendable {
    /// Where the replay stands now.
    func position() -> ReplayPosition
    /// Asks for something; `answer` is called once, on a thread of the replay's own, with where it stands then or with why
    /// not.
    func request(
        _ request: ReplayRequest,
        answer: @escaping @Sendable (Result<ReplayPosition, ReplayRefusal>) -> Void
    )
    /// Has `changed` called, on a thread of the replay's own, whenever somebody changed the replay's place, its speed, or
    /// whether it is paused.
    func watch(_ changed: @escaping @Sendable (ReplayPosition) -> Void)
}

extension ReplayControlling {
    /// Asks for something without waiting for what becomes of it.
    package func request(_ request: ReplayRequest) { self.request(request) { _ in } }
}

extension ReplayRequest {
    /// The speeds of ``faster`` and ``slower``, the slowest first; behind the last there is only as fast as it goes.
    package static let rungs: [Double] = [0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000]
    /// The speeds that can be asked for.
    package static let speeds: ClosedRange<Double> = 0.01...10_000
    /// The most messages of one step.
    package static let mostMessages = 100_000
}

extension ReplayPosition {
    /// How far the replay is on its way, 0 to 100.
    package var percent: Double {
        guard self.end > self.start else { return 100 }
        let (way, length) = (self.at.subtractingCapped(self.start), self.end.subtractingCapped(self.start))
        return min(max(Double(way) / Double(length) * 100, 0), 100)
    }
}
