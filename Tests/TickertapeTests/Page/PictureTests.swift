import Testing
import TickertapeTesting

/// `scripts/pictures`, which makes the pictures of `docs/pictures`.
@Suite(
    "The pictures in docs/pictures",
    .timeLimit(.minutes(6 * Patience.factor)),
    .enabled(if: BrowserWatch.chromium != nil, "no chromium here: scripts/setup --tests installs Debian's package")
)
struct PictureTests {
    @Test("show the screen and the page as they are, but for figures, fonts and shades")
    func compared() async throws {
        let program = try RunningProgram(
            RunningProgram.python,
            ["\(RunningProgram.sources)/scripts/pictures", "--compare", "--program", RunningProgram.tickertape]
        )
        #expect(
            await program.ending(atMost: .seconds(300)) == .exit(0),
            "scripts/pictures makes them anew:\n\(program.output)\(program.errors)"
        )
    }
}
