import Glibc
package import Measurements
import NIOConcurrencyHelpers
package import Platform

/// The live screen on a terminal, drawn by a thread of its own.
///
/// States are published from any thread without ever waiting, and the newest wins: a terminal that stops reading holds
/// up nothing but its own picture. The terminal is restored on every way out: ``stop()``, the key to quit and Ctrl-C, a
/// hang-up, a crash, a deadly signal that the program does not handle itself, and `exit`.
///
/// SIGTERM and SIGINT that the program handles are the program's: it calls ``stop()``. Ctrl-C at the keyboard is a key
/// here and ends ``run()`` with `quitKey`. At most one display runs in a process at a time.
///
/// The feed's loop owns a ``DisplayModel``, and for each batch calls `take` for what the pipeline emits, `observe` for
/// the board's rows, and then once `publish(model.state)`; the same after a status, a gap, or a fired deadline.
package final class TerminalDisplay: ThreadedOutput {
    struct Mailbox {
        var newest: DisplayState?
        /// What became of the person's wishes, in order.
        var answers: [ScreenAnswer] = []
        /// Bytes for the terminal beside the picture, each call whole: a bell, a notification.
        var calls: [UInt8] = []
    }

    let mailbox: OutputMailbox<Mailbox>
    let device: TerminalDevice
    let settings: DisplaySettings
    /// Where what is drawn is measured, and what the latency pane shows.
    let latency: LatencyBook?
    let bindings: KeyBindings
    private let controls: NIOLockedValueBox<DisplayRemote>
    let rest = FrameRest()
    /// The most answers that wait while the drawing thread is busy; with more the oldest are left out.
    private static let maximumAnswers = 64

    static let maximumCallBytes = 4_096

    /// Prepares a display on the terminal behind `output`; nothing is changed there before ``run()``.
    ///
    /// - Throws: ``SystemCallFailure`` when `output` is no terminal.
    package init(
        output: Int32 = STDOUT_FILENO,
        settings: DisplaySettings,
        bindings: KeyBindings = KeyBindings(),
        latency: LatencyBook? = nil
    ) throws(SystemCallFailure) {
        self.latency = latency
        self.bindings = bindings
        self.controls = NIOLockedValueBox(DisplayRemote(without: "this display can only be looked at"))
        self.mailbox = try OutputMailbox(Mailbox())
        self.device = try TerminalDevice(output)
        self.settings = settings
    }

    /// Has the person's wishes carried out by these; before ``run()``.
    package func connect(_ remote: DisplayRemote) { self.controls.withLockedValue { $0 = remote } }

    var remote: DisplayRemote { self.controls.withLockedValue { $0 } }

    package var isScreen: Bool { true }

    /// Takes what became of a wish. From any thread; never waits.
    func notify(_ answer: ScreenAnswer) {
        self.mailbox.leave(isUrgent: true) { mailbox in
            if mailbox.answers.count >= Self.maximumAnswers { mailbox.answers.removeFirst() }
            mailbox.answers.append(answer)
        }
    }

    package func publishingTime(now: Int64) -> Int64? { self.rest.publishingTime(now: now) }

    /// Shows `state` from the next frame on, in place of any state not yet shown. From any thread; never waits.
    package func publish(_ state: DisplayState) { self.mailbox.leave { $0.newest = state } }

    /// Takes what a terminal is sent for an alert; the picture shows the rest. From any thread; never waits.
    package func show(_ item: LineItem) {
        if case .alert(_, let call) = item { self.call(call) }
    }

    /// Sends the terminal bytes that draw nothing (a bell, a notification), between two frames. From any thread; never
    /// waits. While the terminal does not read, ``mostCallBytes`` of them wait and more are left out.
    func call(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        self.mailbox.leave(isUrgent: true) { mailbox in
            if mailbox.calls.count + bytes.count <= Self.maximumCallBytes { mailbox.calls += bytes }
        }
    }

    package func stop() { self.mailbox.stop() }

    package func work() -> OutputEnd {
        var loop = TerminalLoop(display: self)
        return loop.run()
    }

    /// Gives the terminal back as it was found, for an end that does not wait for the display; nothing where no screen is
    /// drawn.
    package static func giveBackTerminal() { TerminalRescue.restore() }
}
