package import NIOCore
package import Wire

/// The answers of one member of a cluster to requests for the members, which all members answer. Belongs to the loop.
package final class MemberAnswers {
    /// The most answers in a second; further requests are left out.
    package static let maximumAnswers = 64
    /// The beginning of the subjects that it answers to. An edge may publish to no other inbox, where it could pass for
    /// the ingest (config/cluster/nats-server.conf).
    package static let inbox = "_INBOX.members."

    private let subjects: ClusterSubjects
    private let link: any ClusterLink
    private let loop: any EventLoop
    private let report: () -> ClusterReport?
    /// The begin of the second, and the answers in it.
    private var second: (start: NIODeadline, answers: Int)

    /// - Parameter report: returns what this member says of itself; `nil` for nothing.
    package init(
        _ subjects: ClusterSubjects,
        link: any ClusterLink,
        on loop: any EventLoop,
        report: @escaping () -> ClusterReport?
    ) {
        self.subjects = subjects
        self.link = link
        self.loop = loop
        self.report = report
        self.second = (loop.now, 0)
    }

    /// Answers from now on.
    package func start() {
        self.link.subscribe(to: self.subjects.members) { [weak self] _, _, reply in
            if let reply, reply.hasPrefix(Self.inbox) { self?.answer(to: reply) }
        }
    }

    private func answer(to reply: String) {
        if self.loop.now - self.second.start >= .seconds(1) { self.second = (self.loop.now, 0) }
        guard self.second.answers < Self.maximumAnswers, let report = self.report() else { return }
        self.second.answers += 1
        _ = self.link.publish(report.text(), to: reply)
    }
}
