package import NIOCore

/// A program's part in several leases, all of which it must hold to run: that of a cluster's tape first, and then one
/// for each key or connection that only one program may use.
///
/// Each is a ``LeaseMachine`` of its own. A program takes a lease only while it holds all earlier ones, so that two
/// programs never wait for each other. It watches all of them meanwhile, so that the last one is free as early as the
/// first. When it loses one it gives the others back, and begins anew as a candidate.
package struct LeaseSet: Sendable {
    package enum Action: Sendable, Equatable {
        case read(lease: Int, UInt64)
        case write(lease: Int, UInt64, ByteBuffer, expecting: UInt64)
        /// Open the upstreams and publish with this epoch, if ``allows(at:)`` still says so.
        case run(epoch: UInt64)
        /// Close the upstreams and publish nothing; then call ``closed(at:)``. After ``LeaseFence/stopping`` a second one
        /// can follow: the upstreams are still open at the end of the proven time.
        case fence(LeaseFence)
        case report(lease: Int, LeaseReport)
        /// No event has an effect any more.
        case end
    }

    package let settings: LeaseSettings
    /// The keys of the leases, in the order in which they are taken.
    package let keys: [String]
    private let name: String
    private let host: String
    private let instance: String
    private var machines: [LeaseMachine] = []
    private var isRunning = false
    /// Why a lease is not held any more; `nil` if none was lost.
    private var lost: LeaseFence?
    /// Whether the leases are given back: for good, or to begin anew.
    private var isEnding = false
    private var isStopping = false
    private var isWaiting = false
    private var isEnded = false
    /// Whether the upstreams are open, or may be.
    package private(set) var isOpen = false
    /// The boottime until which they may take for a clean end; `nil` unless they do.
    private var closesBy: Int64?
    private var highestEpoch: UInt64 = 0
    /// The boottime before which it takes no lease, after it has lost one: another program goes first.
    private var waitsUntil: Int64 = .min
    /// The number of the machines' start, a part of their requests' numbers.
    private var generation: UInt64 = 0
    private var actions: [Action] = []

    /// - Parameters:
    ///   - keys: at least one; each lease has its own.
    ///   - name: the program's name among those that share the leases.
    ///   - host: the machine's name, for people.
    ///   - instance: a random token of this start of the program.
    package init(_ settings: LeaseSettings, keys: [String], name: String, host: String, instance: String) {
        precondition(!keys.isEmpty)
        self.settings = settings
        self.keys = keys
        self.name = name
        self.host = host
        self.instance = instance
        self.makeMachines()
    }

    private mutating func makeMachines() {
        self.generation += 1
        self.machines = self.keys.indices.map { lease in
            LeaseMachine(
                self.settings,
                name: self.name,
                host: self.host,
                instance: "\(self.instance)-\(self.generation)",
                highestEpoch: self.highestEpoch,
                mayTake: false
            )
        }
    }

    // MARK: State

    /// Returns whether a read from an upstream or a publish may begin (``LeaseGuard/allows(at:)``).
    package func allows(at boottime: Int64) -> Bool {
        self.isRunning && self.machines.indices.allSatisfy { self.holds($0, at: boottime) }
    }

    /// Returns whether this program holds one of the leases, by its own proof.
    package func holds(_ lease: Int, at boottime: Int64) -> Bool {
        self.machines[lease].guarding.allows(at: boottime)
    }

    /// The boottime at which ``deadlineReached(at:)`` must be called; `nil` for never.
    package var deadline: Int64? {
        let wait = self.isWaiting && !self.isEnding ? self.waitsUntil : nil
        return (self.machines.map(\.deadline) + [wait, self.closesBy]).compactMap(\.self).min()
    }

    // MARK: Events

    package mutating func started(at moment: LeaseMoment) -> [Action] {
        self.event(moment) { set in set.all { $0.started(at: moment) } }
    }

    /// Takes the outcome of a request.
    package mutating func answered(
        lease: Int,
        _ number: UInt64,
        _ answer: LeaseAnswer,
        at moment: LeaseMoment
    ) -> [Action] {
        self.event(moment) { set in
            // What time has ended is ended in all of them first.
            set.all { $0.deadlineReached(at: moment) }
            guard number >> 32 == set.generation else { return }
            set.take(lease, set.machines[lease].answered(number & .max >> 32, answer, at: moment))
        }
    }

    /// Does what is due. Must also be called when ``allows(at:)`` has said no.
    package mutating func deadlineReached(at moment: LeaseMoment) -> [Action] {
        self.event(moment) { set in set.all { $0.deadlineReached(at: moment) } }
    }

    /// Fences, gives all leases back after ``closed(at:)``, and ends.
    package mutating func stopRequested(at moment: LeaseMoment) -> [Action] {
        self.isStopping = true
        return self.event(moment) { set in
            // A program that stood still ends nothing cleanly.
            set.all { $0.deadlineReached(at: moment) }
            set.giveBack(moment, set.lost ?? .stopping)
        }
    }

    /// The upstreams are closed after ``Action/fence(_:)``.
    package mutating func closed(at moment: LeaseMoment) -> [Action] {
        self.isOpen = false
        self.closesBy = nil
        return self.event(moment) { set in set.all { $0.closed(at: moment) } }
    }

    // MARK: Transitions

    /// Returns the actions of an event and of what follows from it, the fence first.
    private mutating func event(_ moment: LeaseMoment, _ change: (inout LeaseSet) -> Void) -> [Action] {
        change(&self)
        if let closesBy, closesBy <= moment.boottime {
            self.closesBy = nil
            self.actions.append(.fence(.expired))
        }
        self.settle(moment)
        defer { self.actions = [] }
        return self.actions.filter(\.isFence) + self.actions.filter { !$0.isFence }
    }

    private mutating func all(_ event: (inout LeaseMachine) -> [LeaseMachine.Action]) {
        for lease in self.machines.indices { self.take(lease, event(&self.machines[lease])) }
    }

    private mutating func take(_ lease: Int, _ actions: [LeaseMachine.Action]) {
        for action in actions {
            switch action {
            case .read(let number): self.actions.append(.read(lease: lease, self.generation << 32 | number))
            case .write(let number, let value, let expected):
                let number = self.generation << 32 | number
                self.actions.append(.write(lease: lease, number, value, expecting: expected))
            case .fence(let reason): self.lost = self.lost ?? reason
            case .report(let report): self.actions.append(.report(lease: lease, report))
            case .run, .extend, .end: break
            }
        }
    }

    /// Fences, and begins to give back every lease.
    private mutating func giveBack(_ moment: LeaseMoment, _ reason: LeaseFence) {
        if self.isRunning {
            self.actions.append(.fence(reason))
            if reason == .stopping { self.closesBy = self.machines.map(\.guarding.until).min() }
        }
        self.isRunning = false
        guard !self.isEnding else { return }
        self.isEnding = true
        self.all { $0.stopRequested(at: moment) }
        if !self.isOpen { self.all { $0.closed(at: moment) } }
    }

    /// Does what the new state of the machines asks for.
    private mutating func settle(_ moment: LeaseMoment) {
        if let lost = self.lost { self.giveBack(moment, lost) }
        if !self.isEnding {
            let held = self.machines.prefix { $0.epoch != nil }.count
            self.isWaiting = moment.boottime < self.waitsUntil
            if held < self.machines.count, !self.isWaiting {
                self.take(held, self.machines[held].permitted(at: moment))
            } else if held == self.machines.count, !self.isRunning, let epoch = self.machines.first?.epoch {
                self.isRunning = true
                self.isOpen = true
                self.actions.append(.run(epoch: epoch))
            }
        }
        guard self.isEnding, !self.isEnded, !self.isOpen, self.machines.allSatisfy(\.isEnded) else { return }
        if self.isStopping {
            self.isEnded = true
            return self.actions.append(.end)
        }
        self.highestEpoch = self.machines.map(\.highestEpoch).max() ?? 0
        self.isEnding = false
        self.lost = nil
        self.waitsUntil = moment.boottime + self.settings.timeToLive
        self.isWaiting = true
        self.makeMachines()
        self.all { $0.started(at: moment) }
    }
}

extension LeaseSet.Action {
    fileprivate var isFence: Bool { if case .fence = self { true } else { false } }
}
