package import NIOCore

/// The estimate of how far another program's wall clock is ahead of this program's. Time is an argument.
///
/// A message takes time, so the largest difference is the nearest to that of the clocks. It is that of one to two
/// minutes, since clocks are set.
package struct ClockOffset: Sendable {
    /// The largest difference that is believed, ns: one day.
    package static let furthest: Int64 = 86_400_000_000_000
    private static let window: TimeAmount = .seconds(60)

    /// The largest difference of this window, and that of the window before.
    private var present: (ahead: Int64, until: NIODeadline)?
    private var earlier: Int64?

    package init() {}

    /// How far the other clock is ahead, ns; 0 before the first message.
    package var ahead: Int64 { self.present.map { max($0.ahead, self.earlier ?? .min) } ?? 0 }

    /// Takes the time that a message names, and that of its arrival by this program's clock; ns since 1970.
    package mutating func take(sent: Int64, arrived: Int64, now: NIODeadline) {
        let ahead = sent - arrived
        guard ahead.magnitude <= UInt64(Self.furthest) else { return }
        if let present, now < present.until {
            self.present?.ahead = max(present.ahead, ahead)
        } else {
            self.earlier = self.present.flatMap { now < $0.until + Self.window ? $0.ahead : nil }
            self.present = (ahead, now + Self.window)
        }
    }

    /// Returns a time of the other clock by this program's, not before 1970.
    package func shift(_ time: Int64) -> Int64 { max(0, time - self.ahead) }

    /// Returns the time by this program's clock at which the other program made something; at the latest now, and now
    /// if it cannot be true.
    package func arrival(_ sent: Int64, now: Int64) -> Int64 {
        let arrival = self.shift(sent)
        return now - arrival > Self.furthest ? now : min(arrival, now)
    }
}
