import Glibc
package import Market
import NIOConcurrencyHelpers
package import Platform
import Wire

/// The programs that alerts start, with the alert as JSON on their standard input. They run without a shell, a few at a
/// time, within a time limit, and inherit nothing but an environment without secrets.
///
/// Its own thread starts the programs and collects them. It ends a program that hangs together with all processes of
/// its process group. The queue is bounded, and alerts beyond it are counted.
package final class AlertPrograms: Sendable {
    package struct Limits: Sendable, Equatable {
        /// The longest run of a program, ns; it then gets SIGTERM, and a second later SIGKILL.
        package var time: Int64 = 10_000_000_000
        package var atOnce = 4
        package var waiting = 64

        package init() {}
    }

    /// A program to run: its name and arguments, and the bytes on its standard input.
    struct Order: Sendable {
        var arguments: [String]
        var input: [UInt8]
    }

    private struct State: Sendable {
        var queue: JobQueue<Order>
        var hasThread = false
        /// When the remaining programs are killed at a stop; monotonic ns. `nil` before the stop.
        var stopAt: Int64?
        /// Whether no more programs are accepted.
        var isClosed = false
    }

    private let state: NIOLockedValueBox<State>
    private let wake: WakeSignal
    private let thread = WorkQueue("alert-programs")
    private let limits: Limits
    private let environment: [String]
    private let meter: JobMetrics

    /// - Parameter environment: `NAME=VALUE` for each variable of the programs; see ``harmless(_:)``.
    /// - Throws: ``SystemCallFailure`` if the process has no descriptor left.
    package init(limits: Limits = Limits(), environment: [String], meter: JobMetrics) throws(SystemCallFailure) {
        self.wake = try WakeSignal()
        self.limits = limits
        self.environment = environment
        self.meter = meter
        self.state = NIOLockedValueBox(
            State(queue: JobQueue(capacity: limits.waiting, atOnce: limits.atOnce))
        )
    }

    /// Returns the part of an environment that other programs may get: without our secrets and a service manager's
    /// variables.
    package static func harmless(_ environment: [String]) -> [String] {
        let ours = [
            "FINNHUB_TOKEN=", "TICKERTAPE_", "CREDENTIALS_DIRECTORY=", "NOTIFY_SOCKET=", "LISTEN_", "WATCHDOG_",
        ]
        return environment.filter { variable in !ours.contains { variable.hasPrefix($0) } }
    }

    /// Runs `arguments` for an alert. May be called on any thread; never waits.
    package func run(_ arguments: [String], for alert: Alert) {
        self.run(Order(arguments: arguments, input: Array(AlertText.json(alert).readableBytesView) + [0x0A]))
    }

    /// Shows an alert on the desktop with `notify-send`. May be called on any thread; never waits.
    package func notify(_ alert: Alert) {
        let (heading, body) = AlertText.desktop(alert)
        self.run(Order(arguments: ["notify-send", "--app-name=tickertape", "--", heading, body], input: []))
    }

    func run(_ order: Order) {
        let (isTaken, mustStart) = self.state.withLockedValue { state -> (Bool, Bool) in
            guard !state.isClosed, state.queue.add(order) else { return (false, false) }
            defer { state.hasThread = true }
            return (true, !state.hasThread)
        }
        guard isTaken else { return self.meter.ended(.dropped, reason: "too many alerts at once; one was left out") }
        guard mustStart else { return self.wake.ring() }
        do throws(SystemCallFailure) {
            try self.thread.start()
        } catch {
            self.state.withLockedValue { state in
                state.queue.clear()
                state.hasThread = false
            }
            return self.meter.ended(.failed, reason: "no program can be started: \(error)")
        }
        self.thread.submit {
            var runner = Runner(programs: self)
            runner.run()
        }
    }

    /// Waits until no program runs or waits, at most for `limit`.
    package func finish(atMost limit: Duration) async {
        let start = ContinuousClock.now
        while !self.isIdle, ContinuousClock.now - start < limit, !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Accepts no more programs, gives the others `limit`, and then kills them. Returns when the thread has ended, at
    /// most a second after the limit.
    package func stop(atMost limit: Duration) async {
        let nanoseconds = limit.components.seconds * 1_000_000_000 + limit.components.attoseconds / 1_000_000_000
        self.state.withLockedValue { state in
            state.isClosed = true
            state.stopAt = SystemClock.monotonic() + nanoseconds
        }
        self.wake.ring()
        // Killed children end within moments. A child that hangs in the kernel is not waited for.
        let patience = ContinuousClock.now + limit + .seconds(1)
        while self.state.withLockedValue({ $0.hasThread }), ContinuousClock.now < patience {
            try? await Task.sleep(for: .milliseconds(5))
            if Task.isCancelled { break }
        }
    }

    private var isIdle: Bool { self.state.withLockedValue { $0.queue.isIdle } }

    // MARK: The thread

    private struct Child {
        var process: pid_t
        var name: String
        /// When it gets SIGTERM, and after that SIGKILL; monotonic ns.
        var limit: Int64
        var isReported = false
    }

    private struct Runner {
        /// The interval between two checks for children that have ended, ns.
        private static let glance: Int64 = 20_000_000
        private static let killDelay: Int64 = 1_000_000_000

        let programs: AlertPrograms
        var children: [Child] = []

        mutating func run() {
            while true {
                let (orders, stopAt) = self.programs.state.withLockedValue { state -> ([Order], Int64?) in
                    var orders: [Order] = []
                    while let order = state.queue.start() { orders.append(order) }
                    return (orders, state.stopAt)
                }
                for order in orders { self.start(order) }
                let now = SystemClock.monotonic()
                self.collect(now: now)
                if let stopAt {
                    if now >= stopAt { self.endAll() }
                    let isOver = self.programs.state.withLockedValue { state -> Bool in
                        if now >= stopAt { state.queue.clear() }
                        guard state.queue.isIdle else { return false }
                        state.hasThread = false
                        return true
                    }
                    if isOver { return }
                }
                self.listen(isStopping: stopAt != nil)
            }
        }

        private func listen(isStopping: Bool) {
            let canSleep =
                self.children.isEmpty && !isStopping
                && self.programs.state.withLockedValue { $0.queue.isIdle }
            self.programs.wake.wait(atMost: canSleep ? .max : Self.glance)
        }

        private mutating func start(_ order: Order) {
            let name = order.arguments.first ?? ""
            switch SpawnedProgram.start(order, environment: self.programs.environment) {
            case .success(let process):
                let limit = SystemClock.monotonic() + self.programs.limits.time
                self.children.append(Child(process: process, name: name, limit: limit))
            case .failure(let error):
                self.programs.meter.ended(.failed, reason: "\(name) cannot be started: \(error)")
                self.programs.state.withLockedValue { $0.queue.ended() }
            }
        }

        /// Collects the children that have ended, and signals those that exceed their limit.
        private mutating func collect(now: Int64) {
            for index in self.children.indices.reversed() {
                var status: Int32 = 0
                let child = self.children[index]
                let result = waitpid(child.process, &status, WNOHANG)
                if result == 0 || (result < 0 && errno == EINTR) {
                    guard now >= child.limit else { continue }
                    kill(-child.process, child.isReported ? SIGKILL : SIGTERM)
                    self.children[index].isReported = true
                    self.children[index].limit = now + Self.killDelay
                    continue
                }
                self.children.remove(at: index)
                self.programs.state.withLockedValue { $0.queue.ended() }
                self.notify(child, status: result < 0 ? nil : status)
            }
        }

        private func notify(_ child: Child, status: Int32?) {
            let meter = self.programs.meter
            if child.isReported {
                let limit = AlertSpan.write(self.programs.limits.time)
                meter.ended(.failed, reason: "\(child.name) did not end within \(limit), and was ended")
            } else if let status, status & 0x7F != 0 {
                meter.ended(.failed, reason: "\(child.name) was ended by signal \(status & 0x7F)")
            } else if let status, status >> 8 & 0xFF != 0 {
                meter.ended(.failed, reason: "\(child.name) ended with status \(status >> 8 & 0xFF)")
            } else {
                meter.ended(.done)
            }
        }

        private mutating func endAll() {
            for index in self.children.indices {
                kill(-self.children[index].process, SIGKILL)
                self.children[index].isReported = true
            }
        }
    }
}

/// A program that inherits nothing of ours: it has only the three standard descriptors, no blocked or ignored signal,
/// and its own process group.
enum SpawnedProgram {
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ number: Int32) { self.description = String(cString: strerror(number)) }
    }

    static func start(_ order: AlertPrograms.Order, environment: [String]) -> Result<pid_t, Failure> {
        guard let name = order.arguments.first, !name.isEmpty else { return .failure(Failure(ENOENT)) }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return .failure(Failure(errno)) }
        defer { for end in ends { close(end) } }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        // A pipe holds 64 KiB, and an alert is far smaller. All of it is in the pipe before the program starts, so that
        // we never wait for a program that does not read.
        let written = order.input.withUnsafeBytes { write(ends[1], $0.baseAddress, $0.count) }
        guard written == order.input.count else { return .failure(Failure(written < 0 ? errno : EMSGSIZE)) }

        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        guard posix_spawn_file_actions_init(&actions) == 0 else { return .failure(Failure(ENOMEM)) }
        defer { posix_spawn_file_actions_destroy(&actions) }
        guard posix_spawnattr_init(&attributes) == 0 else { return .failure(Failure(ENOMEM)) }
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        guard let closeFrom = Self.closeFrom else { return .failure(Failure(ENOSYS)) }
        _ = closeFrom(&actions, STDERR_FILENO + 1)
        var all = sigset_t()
        var none = sigset_t()
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var process: pid_t = 0
        let failure = Self.withTexts(order.arguments) { arguments in
            Self.withTexts(environment) { environment in
                posix_spawnp(&process, name, &actions, &attributes, arguments, environment)
            }
        }
        return failure == 0 ? .success(process) : .failure(Failure(failure))
    }

    private typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32

    /// `posix_spawn_file_actions_addclosefrom_np` of glibc 2.34, which its header declares for GNU sources only.
    private static let closeFrom: CloseFrom? = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
        unsafeBitCast($0, to: CloseFrom.self)
    }

    /// Passes texts as C expects them: an array of pointers that ends with a null pointer.
    private static func withTexts<Result>(
        _ texts: [String],
        _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers = texts.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
    }
}
