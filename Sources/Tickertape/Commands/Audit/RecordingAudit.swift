import Measurements
import Recordings

/// The audit of two recordings, which are read at the same time, in the order of their wall clocks.
struct RecordingAudit {
    private let audit: TapeAudit
    private let sources: [AuditSource]

    /// - Parameters:
    ///   - finnhub: the path of the recording with Finnhub's messages.
    ///   - venue: the path of that with the venues' messages.
    init(finnhub: String, venue: String) throws(RecordingFailure) {
        let clocks = (try AuditSource.hasWallClock(finnhub), try AuditSource.hasWallClock(venue))
        self.audit = TapeAudit(AuditMachine(measuresDelays: clocks.0 && clocks.1))
        self.sources = [
            try AuditSource(finnhub, side: .finnhub, audit: self.audit),
            try AuditSource(venue, side: .venue, audit: self.audit),
        ]
    }

    func run() throws(RecordingFailure) -> AuditReport {
        while let next = self.sources.filter({ $0.nextWall != nil }).min(by: { $0.nextWall ?? 0 < $1.nextWall ?? 0 }) {
            try next.takeNext()
        }
        self.audit.finish()
        return self.audit.report(now: nil)
    }
}
