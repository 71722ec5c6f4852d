export class WrongUse extends Error {
}
