package import NIOCore

/// Where leases are kept. All is used on one event loop.
package protocol LeaseStore: AnyObject {
    /// Reads a key; the future never fails.
    func read(_ key: String, within limit: TimeAmount) -> EventLoopFuture<LeaseAnswer>
    /// Writes a key if it has the revision; the future never fails.
    func write(
        _ key: String,
        _ value: ByteBuffer,
        expecting revision: UInt64,
        within limit: TimeAmount
    ) -> EventLoopFuture<LeaseAnswer>
}

/// What a holder of leases does. Called on the loop.
package protocol LeaseHolderDelegate: AnyObject {
    /// Open the upstreams, and publish with this epoch.
    func leaseGranted(epoch: UInt64)
    /// Close the upstreams at once, and publish nothing. ``LeaseHolder/closed()`` must follow. For a stop they may end
    /// cleanly, until another reason follows.
    func leaseFenced(_ reason: LeaseFence)
    /// The leases are given back, after ``LeaseHolder/stop()``.
    func leaseEnded()
}

/// The leases of a program: a ``LeaseSet`` with its clock, its timer and its store. Belongs to one event loop.
package final class LeaseHolder {
    /// The interval in which a program with open upstreams reads the clock that counts a suspension, which no timer of
    /// the loop does.
    private static let watch: TimeAmount = .milliseconds(50)

    private let store: any LeaseStore
    private let loop: any EventLoop
    private let boottime: () -> Int64
    private let moment: () -> LeaseMoment
    private let reported: (_ key: String, LeaseReport) -> Void
    package weak var delegate: (any LeaseHolderDelegate)?
    private var leases: LeaseSet
    private var timer: Scheduled<Void>?
    private var isRunning = false
    private var actions: [LeaseSet.Action] = []
    private var isPerforming = false

    /// - Parameters:
    ///   - leases: with safe settings (``LeaseSettings/isSafe``).
    ///   - boottime: reads `CLOCK_BOOTTIME`, ns.
    ///   - moment: reads the clocks and draws a random number, anew for each call.
    ///   - reported: takes what a lease's state means for people, each time that it changes.
    package init(
        _ leases: LeaseSet,
        store: any LeaseStore,
        on loop: any EventLoop,
        boottime: @escaping () -> Int64,
        moment: @escaping () -> LeaseMoment,
        reported: @escaping (_ key: String, LeaseReport) -> Void
    ) {
        precondition(leases.settings.isSafe)
        self.leases = leases
        self.store = store
        self.loop = loop
        self.boottime = boottime
        self.moment = moment
        self.reported = reported
    }

    package func start() { self.perform(self.leases.started(at: self.moment())) }

    package func stop() { self.perform(self.leases.stopRequested(at: self.moment())) }

    /// The upstreams are closed after a fence.
    package func closed() { self.perform(self.leases.closed(at: self.moment())) }

    /// Returns whether a read from an upstream or a publish may begin now. If not, the fence has come by then.
    package var isAllowed: Bool {
        if self.leases.allows(at: self.boottime()) { return true }
        if self.isRunning { self.wake() }
        return false
    }

    private func wake() { self.perform(self.leases.deadlineReached(at: self.moment())) }

    private func perform(_ actions: [LeaseSet.Action]) {
        // A fence of an event within another one's actions goes before the rest of those.
        let fences = actions.filter { if case .fence = $0 { true } else { false } }
        self.actions = fences + self.actions + actions.filter { !fences.contains($0) }
        if self.isPerforming, fences.isEmpty { return }
        let isOuter = !self.isPerforming
        self.isPerforming = true
        while !self.actions.isEmpty { self.perform(self.actions.removeFirst()) }
        guard isOuter else { return }
        self.isPerforming = false
        self.arm()
    }

    private func perform(_ action: LeaseSet.Action) {
        let limit = TimeAmount.nanoseconds(self.leases.settings.request)
        switch action {
        case .read(let lease, let number):
            self.take(self.store.read(self.leases.keys[lease], within: limit), lease, number)
        case .write(let lease, let number, let value, let revision):
            let key = self.leases.keys[lease]
            self.take(self.store.write(key, value, expecting: revision, within: limit), lease, number)
        case .run(let epoch):
            self.isRunning = true
            // The program can have stood still since the answer.
            guard self.isAllowed else { return self.isRunning = false }
            self.delegate?.leaseGranted(epoch: epoch)
        case .fence(let reason):
            self.isRunning = false
            self.delegate?.leaseFenced(reason)
            // The program can have stood still since it was asked to stop.
            if reason == .stopping { self.wake() }
        case .report(let lease, let report): self.reported(self.leases.keys[lease], report)
        case .end: self.delegate?.leaseEnded()
        }
    }

    private func take(_ answer: EventLoopFuture<LeaseAnswer>, _ lease: Int, _ number: UInt64) {
        answer.assumeIsolated().whenSuccess { [weak self] answer in
            guard let self else { return }
            self.perform(self.leases.answered(lease: lease, number, answer, at: self.moment()))
        }
    }

    private func arm() {
        self.timer?.cancel()
        self.timer = self.leases.deadline.map { deadline in
            let due = TimeAmount.nanoseconds(max(0, deadline - self.boottime()))
            let wait = self.leases.isOpen ? min(due, Self.watch) : due
            return self.loop.assumeIsolated().scheduleTask(in: wait) { [weak self] in self?.wake() }
        }
    }
}
