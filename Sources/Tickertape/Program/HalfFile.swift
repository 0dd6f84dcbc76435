import Glibc
import Recordings

/// The answer to a signal that asks for the end while a command makes a new file: half of it is removed, and the program ends by
/// the signal, as scripts and shells expect.
enum HalfFile {
    /// Takes SIGINT, SIGTERM and SIGHUP until the program ends.
    ///
    /// A signal that whoever started the program had it ignore (`nohup`) stays ignored.
    static func take() {
        // Touched here: a handler must not be the first.
        UnfinishedFile.remove()
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let before = signal(number) { number in
                UnfinishedFile.remove()
                signal(number, SIG_DFL)
                // It is held back until the handler has returned.
                raise(number)
            }
            if unsafeBitCast(before, to: Int.self) == 1 { signal(number, SIG_IGN) }
        }
    }
}
