// The words of a member's state for people, on the screen and in lines.
extension ClusterState {
    /// What this program is in its cluster, in few words: `publishing`, `standby`, `following host-a`, `no ingest`.
    package var part: String {
        if self.isPublishing { return "publishing" }
        if let followed { return self.role == .ingest ? "standby of \(followed)" : "following \(followed)" }
        return self.role == .ingest ? "standby" : "no ingest"
    }

    /// Returns the part of this program in its cluster, longest form first.
    package var forms: [String] {
        let epoch = self.position.map { ", epoch \($0.epoch)" } ?? ""
        if self.isPublishing {
            let edges = self.edges.map { ", \($0) \($0 == 1 ? "edge" : "edges")" } ?? ""
            return [
                "publishes to the cluster \(self.cluster)\(epoch), 0 hops\(edges)", "publishes\(edges)", "publishes",
            ]
        }
        guard let followed else {
            return self.role == .ingest
                ? ["standby of the cluster \(self.cluster)", "standby"]
                : ["no ingest of the cluster \(self.cluster)", "no ingest"]
        }
        let verb = self.role == .ingest ? "standby, follows" : "follows"
        let hops = self.hops.map { ", \($0) \($0 == 1 ? "hop" : "hops")" } ?? ""
        let clock = self.clockOffset.map { ", its clock \(Self.clockWords($0))" } ?? ""
        return [
            "\(verb) the ingest \(followed)\(epoch)\(hops)\(clock)", "\(verb) the ingest \(followed)\(hops)\(clock)",
            "\(verb) the ingest \(followed)\(hops)", "\(verb) \(followed)", verb,
        ]
    }

    /// Returns a difference of clocks, ns, as `12.3 ms ahead`, `0.4 ms behind` or `2.0 s ahead`.
    private static func clockWords(_ offset: Int64) -> String {
        "\(Self.span(offset)) \(offset < 0 ? "behind" : "ahead")"
    }

    /// Returns the length of a span, ns, in ms or s with one decimal.
    package static func span(_ nanoseconds: Int64) -> String {
        let tenths = (nanoseconds.magnitude + 50_000) / 100_000
        if tenths < 10_000 { return "\(tenths / 10).\(tenths % 10) ms" }
        let seconds = (tenths + 500) / 1_000
        return "\(seconds / 10).\(seconds % 10) s"
    }
}
