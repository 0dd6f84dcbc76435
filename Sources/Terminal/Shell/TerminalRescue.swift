import Glibc
import Platform
import Synchronization

/// The restoration of the terminal when the program ends without ``TerminalDisplay/stop()``: by a crash, an unhandled
/// signal, or `exit`.
///
/// A signal handler may neither allocate nor lock, so everything it needs is prepared in memory that is never freed. A
/// process has one terminal, and so one rescue.
enum TerminalRescue {
    /// The signals for the display's thread.
    struct Events: OptionSet {
        let rawValue: UInt32
        static let resized = Events(rawValue: 1)
        static let continued = Events(rawValue: 2)
        static let stopAsked = Events(rawValue: 4)
        static let hungUp = Events(rawValue: 8)
    }

    /// The data that the restoration needs.
    private struct RestoreContext {
        var descriptor: Int32
        var modes: termios
        var leave: UnsafeMutablePointer<UInt8>
        var leaveCount: Int
    }

    /// The signals of a fault in the program.
    private static let faults = [SIGSEGV, SIGABRT, SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSYS]
    /// The signals that end the program by default; they are handled here only while the program does not handle them.
    private static let ends = [SIGTERM, SIGINT, SIGQUIT, SIGALRM, SIGXCPU]
    private static let signalCount = 65

    /// The address of the ``RestoreContext`` while the terminal is changed, else 0.
    private static let kit = Atomic<UInt>(0)
    /// The address of the original dispositions, one `sigaction` per signal; 0 before the first ``install(bell:)``.
    private static let found = Atomic<UInt>(0)
    private static let events = Atomic<UInt32>(0)
    private static let bell = Atomic<Int32>(-1)
    private static let hasExitHook = Atomic<Bool>(false)

    // MARK: From the display's thread

    /// Installs the handlers.
    ///
    /// Signals that the program ignores or handles itself are left alone, except for faults, SIGWINCH and SIGCONT.
    /// Faults are passed on to the original handler, such as the runtime's, which prints a backtrace.
    static func install(bell descriptor: Int32) {
        // Initialises every lazy global here, since a handler must not do it.
        Self.kit.store(0, ordering: .sequentiallyConsistent)
        Self.bell.store(descriptor, ordering: .sequentiallyConsistent)
        Self.events.store(0, ordering: .sequentiallyConsistent)
        let table: UnsafeMutablePointer<sigaction>
        if let known = UnsafeMutablePointer<sigaction>(bitPattern: Self.found.load(ordering: .acquiring)) {
            table = known
        } else {
            // Never freed, since a handler may run at any time.
            table = .allocate(capacity: Self.signalCount)
            table.initialize(repeating: sigaction(), count: Self.signalCount)
            Self.found.store(UInt(bitPattern: table), ordering: .releasing)
        }
        for signal in Self.faults { Self.take(signal, with: Self.rescueHandler, into: table, evenIfHandled: true) }
        for signal in Self.ends { Self.take(signal, with: Self.rescueHandler, into: table, evenIfHandled: false) }
        for signal in [SIGWINCH, SIGCONT] {
            Self.take(signal, with: Self.noticeHandler, into: table, evenIfHandled: true)
        }
        for signal in [SIGTSTP, SIGHUP] {
            Self.take(signal, with: Self.noticeHandler, into: table, evenIfHandled: false)
        }
        if !Self.hasExitHook.exchange(true, ordering: .sequentiallyConsistent) {
            atexit { TerminalRescue.restore() }
        }
    }

    /// Restores the original handlers, unless other code has replaced them meanwhile.
    static func uninstall() {
        guard let table = UnsafeMutablePointer<sigaction>(bitPattern: Self.found.load(ordering: .acquiring)) else {
            return
        }
        for signal in Self.faults + Self.ends + [SIGWINCH, SIGCONT, SIGTSTP, SIGHUP] where Self.isOurs(signal) {
            sigaction(signal, table + Int(signal), nil)
        }
        Self.bell.store(-1, ordering: .sequentiallyConsistent)
    }

    /// Publishes the restoration's data; must be called before the terminal is changed.
    ///
    /// - Parameter hasLinks: whether a frame that is cut short may leave a link open.
    static func arm(descriptor: Int32, modes: termios, hasLinks: Bool) {
        let bytes = TerminalModes.leave + (hasLinks ? ScreenLink.end : [])
        let leave = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
        leave.initialize(from: bytes, count: bytes.count)
        let new = UnsafeMutablePointer<RestoreContext>.allocate(capacity: 1)
        new.initialize(
            to: RestoreContext(
                descriptor: descriptor,
                modes: modes,
                leave: leave,
                leaveCount: bytes.count
            )
        )
        // The previous context is never freed (a few hundred bytes per Ctrl-Z), since a handler may be reading it.
        Self.kit.store(UInt(bitPattern: new), ordering: .sequentiallyConsistent)
    }

    /// Withdraws the restoration's data; must be called after the terminal has been restored in order.
    static func disarm() {
        Self.kit.store(0, ordering: .sequentiallyConsistent)
    }

    static func takeEvents() -> Events {
        Events(rawValue: Self.events.exchange(0, ordering: .sequentiallyConsistent))
    }

    /// Stops the whole job with the signal's default action, and returns after it is continued.
    static func stopJob(wake: WakeSignal) {
        var byDefault = sigaction()
        byDefault.__sigaction_handler.sa_handler = SIG_DFL
        var ours = sigaction()
        sigaction(SIGTSTP, &byDefault, &ours)
        Self.events.store(0, ordering: .sequentiallyConsistent)
        kill(0, SIGTSTP)
        // The stop takes effect within moments, and the wait goes on after it. The kernel does not stop an orphaned
        // job, which continues after the wait.
        let limit = SystemClock.monotonic() + 200_000_000
        while !Events(rawValue: Self.events.load(ordering: .sequentiallyConsistent)).contains(.continued) {
            let left = limit - SystemClock.monotonic()
            guard left > 0 else { break }
            wake.wait(atMost: min(left, 20_000_000))
        }
        sigaction(SIGTSTP, &ours, nil)
        // This stop is over; a second report of it would make the caller enter the screen again.
        Self.events.bitwiseAnd(~Events.continued.rawValue, ordering: .sequentiallyConsistent)
    }

    // MARK: From a signal handler: nothing here allocates, locks or waits long

    /// Restores the terminal if it is changed; only the first caller does.
    static func restore() {
        let address = Self.kit.exchange(0, ordering: .sequentiallyConsistent)
        guard let kit = UnsafeMutablePointer<RestoreContext>(bitPattern: address) else { return }
        var written = 0
        var patience = 20
        while written < kit.pointee.leaveCount, patience > 0 {
            let count = write(kit.pointee.descriptor, kit.pointee.leave + written, kit.pointee.leaveCount - written)
            if count > 0 {
                written += count
            } else {
                var room = pollfd(fd: kit.pointee.descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&room, 1, 10)
                patience -= 1
            }
        }
        tcsetattr(kit.pointee.descriptor, TCSANOW, &kit.pointee.modes)
    }

    private static let rescueHandler:
        @convention(c) (Int32, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?)
            -> Void = { signal, facts, _ in
                TerminalRescue.restore()
                guard let table = UnsafePointer<sigaction>(bitPattern: TerminalRescue.found.load(ordering: .acquiring))
                else {
                    return
                }
                sigaction(signal, table + Int(signal), nil)
                // A fault recurs when its instruction runs again, with the original context for a backtrace. A signal
                // from `kill` must be raised again.
                if (facts?.pointee.si_code ?? 0) <= 0 { raise(signal) }
            }

    private static let noticeHandler:
        @convention(c) (Int32, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?)
            -> Void = { signal, _, _ in
                let saved = errno
                let event: Events =
                    switch signal {
                    case SIGWINCH: .resized
                    case SIGCONT: .continued
                    case SIGTSTP: .stopAsked
                    default: .hungUp
                    }
                TerminalRescue.events.bitwiseOr(event.rawValue, ordering: .sequentiallyConsistent)
                WakeSignal.ring(TerminalRescue.bell.load(ordering: .sequentiallyConsistent))
                errno = saved
            }

    // MARK: Dispositions

    private static func take(
        _ signal: Int32,
        with handler:
            @escaping @convention(c) (Int32, UnsafeMutablePointer<siginfo_t>?, UnsafeMutableRawPointer?) -> Void,
        into table: UnsafeMutablePointer<sigaction>,
        evenIfHandled: Bool
    ) {
        var current = sigaction()
        guard sigaction(signal, nil, &current) == 0, !Self.isOurs(signal) else { return }
        if !evenIfHandled, Self.address(of: current) != 0 { return }
        table[Int(signal)] = current
        var taken = sigaction()
        taken.__sigaction_handler.sa_sigaction = handler
        taken.sa_flags = Int32(bitPattern: UInt32(SA_SIGINFO) | UInt32(SA_ONSTACK) | UInt32(SA_RESTART))
        sigemptyset(&taken.sa_mask)
        sigaction(signal, &taken, nil)
    }

    private static func isOurs(_ signal: Int32) -> Bool {
        var current = sigaction()
        guard sigaction(signal, nil, &current) == 0 else { return false }
        let address = Self.address(of: current)
        return address == UInt(bitPattern: unsafeBitCast(Self.rescueHandler, to: Int.self))
            || address == UInt(bitPattern: unsafeBitCast(Self.noticeHandler, to: Int.self))
    }

    /// Returns the handler's address: 0 is the default action, 1 ignores the signal.
    private static func address(of action: sigaction) -> UInt {
        withUnsafeBytes(of: action.__sigaction_handler) { $0.loadUnaligned(as: UInt.self) }
    }
}
