import { testPlays } from './test-plays.ts';

testPlays(({ isEssential }) => !isEssential);
