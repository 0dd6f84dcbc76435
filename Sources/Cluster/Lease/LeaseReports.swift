package import Wire

/// What the reports of a program's leases say together.
package struct LeaseReports: Sendable {
    private let keys: [String]
    private var reports: [String: LeaseReport] = [:]

    /// - Parameter keys: the leases in the order in which they are taken, that of the tape first.
    package init(keys: [String]) { self.keys = keys }

    package mutating func take(_ report: LeaseReport, of key: String) { self.reports[key] = report }

    /// All leases in one line: the first that is not held, with its reason.
    package var state: ClusterState.Lease {
        let first = self.keys.first { key in
            if case .holding = self.reports[key] { false } else { true }
        }
        var epoch: UInt64?
        if case .holding(let held) = self.keys.first.flatMap({ self.reports[$0] }) { epoch = held }
        guard let first else {
            let count = self.keys.count == 1 ? "the lease" : "\(self.keys.count) leases"
            return ClusterState.Lease(isHeld: true, words: "holding \(count)", epoch: epoch)
        }
        let words = self.reports[first].map { "\(first): \($0)" } ?? "asking for the lease \(first)"
        return ClusterState.Lease(isHeld: false, words: words, epoch: epoch)
    }
}
